// Command gen writes the wire definitions of the other languages' SDKs from
// the Go source of sdk/abi: the rows as plain structs, and the constants. It
// writes the reference page about them, too.
// Run it with go generate ./sdk/abi.
//
// Not here: the header and the strings of a batch, which each SDK reads in its
// own code; test/guests proves all of them equal, byte for byte.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run reads the package in dir and writes the files beside it.
func run(dir string) error {
	format, err := read(dir)
	if err != nil {
		return err
	}
	for path, text := range files(format) {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	return nil
}

// files are the texts of all languages by path, relative to sdk/abi.
func files(f *format) map[string]string {
	return map[string]string{
		"../c/spokeshave_abi.h":             inC(f),
		"../assemblyscript/assembly/abi.ts": inAssemblyScript(f),
		"../rust/src/abi.rs":                inRust(f),
		"../../docs/reference/abi.md":       inMarkdown(f),
	}
}

const notice = "Made from sdk/abi by go generate; do not edit."
