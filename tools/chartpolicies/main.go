// Command chartpolicies copies the shipped policies into the chart, which can
// only read files of its own.
//
//	chartpolicies POLICIES CHARTFILES
//
// Of every folder with a policy.yaml it takes what the policy's ConfigMap
// holds: policy.yaml, Rego sources and tests, data.json and compiled modules.
// What was in CHARTFILES before is removed.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: chartpolicies POLICIES CHARTFILES")
		os.Exit(2)
	}
	if err := copyAll(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "chartpolicies:", err)
		os.Exit(1)
	}
}

func copyAll(from, to string) error {
	found, err := filepath.Glob(filepath.Join(from, "*", "policy.yaml"))
	if err != nil || len(found) == 0 {
		return fmt.Errorf("no policies in %s", from)
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	for _, file := range found {
		dir := filepath.Dir(file)
		if err := copyOne(dir, filepath.Join(to, filepath.Base(dir))); err != nil {
			return fmt.Errorf("copy %s: %w", dir, err)
		}
	}
	return nil
}

func copyOne(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		if !shipped(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func shipped(name string) bool {
	if slices.Contains([]string{"policy.yaml", "data.json", "module.wasm", "module.wasm.gz"}, name) {
		return true
	}
	return strings.HasSuffix(name, ".rego")
}
