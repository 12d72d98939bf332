// Command fuzz runs every fuzz target of the product's module in turn, each for
// a while, because "go test -fuzz" takes one target of one package.
//
//	fuzz -time 20s
//
// It says which target runs and how it went, goes on after a failure, and ends
// with a non-zero exit code when any target failed. Go keeps the failing input
// in the package's testdata/fuzz: commit it with the fix.
//
//	fuzz -cpu 1h -record docs/measurements/fuzzing.md
//
// gives each target an hour of processor time, with one worker, a few minutes at a time, and
// writes what each has had to a table. A run that was interrupted goes on where the table
// ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

// options are those of the command line.
type options struct {
	source, only, first, record string
	each, cpu                   time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.source, "source", "..", "root of the module to fuzz")
	flag.DurationVar(&o.each, "time", 20*time.Second, "how long to run each target")
	flag.StringVar(&o.only, "only", "", "regular expression: run the targets whose package/Name matches")
	flag.DurationVar(&o.cpu, "cpu", 0, "in place of -time: processor time for each target, over all runs in the record")
	flag.StringVar(&o.record, "record", "", "with -cpu: the page with the table of what each target has had")
	flag.StringVar(&o.first, "first", "controller/policy/|sdk/abi", "with -cpu: regular expression of the targets that go first")
	flag.Parse()
	if err := fuzz(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func fuzz(ctx context.Context, o options) error {
	wanted, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	all, err := targets(ctx, o.source)
	if err != nil {
		return err
	}
	chosen := all[:0]
	for _, t := range all {
		if wanted.MatchString(t.String()) {
			chosen = append(chosen, t)
		}
	}
	if len(chosen) == 0 {
		return errors.New("no fuzz target found")
	}
	if o.cpu > 0 {
		return spend(ctx, o, chosen)
	}
	return runAll(ctx, chosen, func(ctx context.Context, t target) (string, error) { return run(ctx, o.source, t, o.each) }, os.Stderr)
}

// spend gives each target its processor time.
func spend(ctx context.Context, o options, chosen []target) error {
	if o.record == "" {
		return errors.New("-cpu needs a -record")
	}
	first, err := regexp.Compile(o.first)
	if err != nil {
		return fmt.Errorf("read -first: %w", err)
	}
	known, err := readRecord(o.record)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "fuzz")
	if err != nil {
		return fmt.Errorf("make a folder for test programs: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // in the system's folder for temporary files
	programs := &builder{source: o.source, dir: dir, built: map[target]string{}}
	b := &budget{cpu: o.cpu, first: first, record: known, one: programs.run}
	return b.run(ctx, chosen, os.Stderr)
}

// runAll runs the targets in turn and reports each one.
func runAll(ctx context.Context, all []target, one func(context.Context, target) (string, error), progress io.Writer) error {
	var failed []target
	for i, t := range all {
		fmt.Fprintf(progress, "[%d/%d] %s ", i+1, len(all), t)
		out, err := one(ctx, t)
		if ctx.Err() != nil {
			fmt.Fprintln(progress, "interrupted")
			return fmt.Errorf("fuzz %s: %w", t, ctx.Err())
		}
		if err != nil {
			failed = append(failed, t)
			fmt.Fprintf(progress, "FAILED\n%s\n", out)
			continue
		}
		fmt.Fprintln(progress, summary(out))
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d targets failed, the first: %s", len(failed), len(all), failed[0])
	}
	return nil
}
