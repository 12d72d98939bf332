// Command fuzz runs every fuzz target of the product's module in turn, each for
// a while, because "go test -fuzz" takes one target of one package.
//
//	fuzz -time 20s
//
// It says which target runs and how it went, goes on after a failure, and ends
// with a non-zero exit code when any target failed. Go keeps the failing input
// in the package's testdata/fuzz: commit it with the fix.
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	source := flag.String("source", "..", "root of the module to fuzz")
	each := flag.Duration("time", 20*time.Second, "how long to run each target")
	only := flag.String("only", "", "regular expression: run the targets whose package/Name matches")
	flag.Parse()
	if err := fuzz(ctx, *source, *each, *only); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func fuzz(ctx context.Context, source string, each time.Duration, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	all, err := targets(ctx, source)
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
	return runAll(ctx, chosen, func(ctx context.Context, t target) (string, error) { return run(ctx, source, t, each) }, os.Stderr)
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
