// Command guests compiles every Wasm test policy ("guest") of the repository: it writes
// module.wasm next to its source.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"spokeshave.dev/test/guests"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // nothing is left to clean up
	}
}

func run(ctx context.Context, dirs []string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		if dirs, err = guests.Find(root); err != nil {
			return err
		}
	}
	for _, dir := range dirs {
		module, err := guests.Build(ctx, root, dir)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, guests.Module)
		state := "new"
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, module) {
			state = "same"
		}
		if err := os.WriteFile(path, module, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			rel = path
		}
		if _, err := fmt.Fprintf(os.Stdout, "%-6s %6d bytes  %s\n", state, len(module), rel); err != nil {
			return err
		}
	}
	return nil
}
