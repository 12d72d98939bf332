package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"spokeshave.dev/test/kit/source"
)

// controller is a program to measure.
type controller struct {
	name string
	// path is the program, and chart the folder of its chart: an older program refuses flags that
	// it does not know. Both are empty for those of the working tree, whose program is built anew.
	path, chart string
}

// controllers returns the working tree's controller, after that of the base commit, if
// any. done removes what was built.
func controllers(ctx context.Context, base string) (_ []controller, done func(), err error) {
	tree := controller{name: "working tree"}
	if base == "" {
		return []controller{tree}, func() {}, nil
	}
	root, err := source.Root()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "live-base")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder: %w", err)
	}
	checkout, path := filepath.Join(dir, "tree"), filepath.Join(dir, "controller")
	done = func() {
		// Without its folder git prunes the worktree; nothing depends on it.
		_ = execute(context.WithoutCancel(ctx), root, "git", "worktree", "remove", "--force", checkout)
		_ = os.RemoveAll(dir)
	}
	for _, each := range [][]string{
		{root, "git", "worktree", "add", "--detach", checkout, base},
		{checkout, "go", "build", "-o", path, "./cmd/spokeshave-controller"},
	} {
		if err := execute(ctx, each[0], each[1], each[2:]...); err != nil {
			done()
			return nil, nil, err
		}
	}
	return []controller{{name: base, path: path, chart: filepath.Join(checkout, "charts", "spokeshave")}, tree}, done, nil
}

// execute runs a program in a folder, with its messages on standard error.
func execute(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s %v: %w", program, args, err)
	}
	return nil
}
