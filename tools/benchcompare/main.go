// Benchcompare runs the benchmarks of a package at a base commit and as they are in the
// working tree, in turns, and prints benchstat's comparison. Turns spread what else the
// machine does over both sides.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
)

// options are what to compare.
type options struct {
	base, pkg, bench, benchtime string
	count                       int
}

func main() {
	var o options
	flag.StringVar(&o.base, "base", "main", "commit to compare with")
	flag.StringVar(&o.pkg, "package", "./controller/core/solver", "package whose benchmarks are run")
	flag.StringVar(&o.bench, "bench", ".", "regular expression of the benchmarks")
	flag.StringVar(&o.benchtime, "benchtime", "1s", "time, or number of iterations with an x, of each benchmark")
	flag.IntVar(&o.count, "count", 10, "how many times each side is run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := compare(ctx, &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compare(ctx context.Context, o *options) error {
	tmp, err := os.MkdirTemp("", "benchcompare")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	root, err := filepath.Abs("..")
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	tree := filepath.Join(tmp, "tree")
	if err := run(ctx, root, nil, "git", "worktree", "add", "--detach", tree, o.base); err != nil {
		return err
	}
	defer func() { _ = run(context.WithoutCancel(ctx), root, nil, "git", "worktree", "remove", "--force", tree) }()
	sides := []struct{ root, binary, results string }{
		{tree, filepath.Join(tmp, "base.test"), filepath.Join(tmp, "base")},
		{root, filepath.Join(tmp, "tree.test"), filepath.Join(tmp, "working-tree")},
	}
	for _, side := range sides {
		if err := run(ctx, side.root, nil, "go", "test", "-c", "-o", side.binary, o.pkg); err != nil {
			return err
		}
	}
	for range o.count {
		for _, side := range sides {
			if err := measure(ctx, filepath.Join(side.root, o.pkg), side.binary, side.results, o); err != nil {
				return err
			}
		}
	}
	return run(ctx, filepath.Join(root, "tools"), os.Stdout, "go", "tool", "benchstat", sides[0].results, sides[1].results)
}

// measure runs the benchmarks once and appends the results to a file.
func measure(ctx context.Context, dir, binary, results string, o *options) error {
	out, err := os.OpenFile(results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open results: %w", err)
	}
	defer func() { _ = out.Close() }() // the program writes to it directly: nothing is buffered
	return run(ctx, dir, out, binary, "-test.run=^$", "-test.bench="+o.bench, "-test.benchtime="+o.benchtime, "-test.count="+strconv.Itoa(1))
}

// run runs a program in a folder; a nil out is standard error.
func run(ctx context.Context, dir string, out *os.File, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	if out != nil {
		cmd.Stdout = out
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s %v: %w", name, args, err)
	}
	return nil
}
