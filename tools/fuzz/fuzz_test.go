package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, dir, name, body string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

// module has a target that holds, one that does not, and two functions that
// only look like targets.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/m\n\ngo 1.26\n")
	write(t, dir, "a/a_test.go", `package a

import "testing"

func FuzzHolds(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte) {}) }

func Fuzzy() {}

type x struct{}

func (x) FuzzMethod(f *testing.F) {}
`)
	write(t, dir, "b/b_test.go", `package b_test

import "testing"

func FuzzBreaks(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) { t.Error("always") })
}
`)
	return dir
}

func TestTargets(t *testing.T) {
	got, err := targets(t.Context(), module(t))
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(got); text != "[example.com/m/a/FuzzHolds example.com/m/b/FuzzBreaks]" {
		t.Errorf("targets = %s", text)
	}
}

func TestFuzz(t *testing.T) {
	dir := module(t)
	tests := map[string]struct {
		reason string
		only   string
		want   string
	}{
		"holds":  {"a target that holds is a success", "FuzzHolds", ""},
		"breaks": {"the target that fails is named", "", "1 of 2 targets failed, the first: example.com/m/b/FuzzBreaks"},
		"none":   {"a selection of nothing is a mistake", "Nothing", "no fuzz target"},
		"regexp": {"so is a broken expression", "(", "read -only"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := fuzz(t.Context(), options{source: dir, each: 100 * time.Millisecond, only: tt.only})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, want %q", tt.reason, err, tt.want)
			}
		})
	}
}

// TestVerdict: the end of a target's time is no failure, whatever Go calls it; all else is.
func TestVerdict(t *testing.T) {
	const progress = "fuzz: elapsed: 0s, execs: 1 (9/sec), new interesting: 0 (total: 1)\n"
	exited := exec.CommandContext(t.Context(), "go", "no-such-command").Run()
	tests := map[string]struct {
		out  string
		err  error
		want bool
	}{
		"passed":         {progress + "PASS\n", nil, false},
		"end of time":    {progress + "--- FAIL: FuzzHolds (0.11s)\n    context deadline exceeded\nFAIL\nexit status 1\n", exited, false},
		"not started":    {progress + "--- FAIL: FuzzHolds (0.11s)\n    context deadline exceeded\nFAIL\n", errors.New("no such file"), true},
		"an input":       {progress + "--- FAIL: FuzzHolds (0.11s)\n    --- FAIL: FuzzHolds (0.00s)\n        a_test.go:7: context deadline exceeded\nFAIL\n", exited, true},
		"an input hangs": {progress + "--- FAIL: FuzzHolds (0.11s)\n    fuzzing process hung or terminated unexpectedly\nFAIL\n", exited, true},
		"both":           {progress + "--- FAIL: FuzzHolds (0.11s)\n    context deadline exceeded\nFAIL\n--- FAIL: TestOther (0.00s)\nFAIL\n", exited, true},
		"build":          {"a.go:1:1: expected 'package'\nFAIL example.com/m/a [setup failed]\n", exited, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := verdict(tt.out, tt.err); (got != nil) != tt.want {
				t.Errorf("got %v, want an error: %v", got, tt.want)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out strings.Builder
	err := runAll(ctx, []target{{pkg: "p", name: "FuzzA"}, {pkg: "p", name: "FuzzB"}}, func(context.Context, target) (string, error) {
		cancel()
		return "", errors.New("killed")
	}, &out)
	if !errors.Is(err, context.Canceled) || strings.Contains(out.String(), "FuzzB") {
		t.Errorf("got %v after %q, want an end at the first target", err, out.String())
	}
}
