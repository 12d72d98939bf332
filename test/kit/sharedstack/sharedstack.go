// Package sharedstack runs the tests of a package on one stack of test/kit/harness: a
// control plane, the chart, the controller and the EC2 simulator.
package sharedstack

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/harness"
)

// Main starts a stack, calls run, which runs the tests on it, stops the stack, and returns
// the exit code for TestMain: run's, or 1 after an error. Short tests run without a stack
// and have to skip themselves. Where the control plane cannot be built, no test runs; that
// is a failure in CI. Options.Log is standard error unless it is set.
func Main(m *testing.M, o harness.Options, run func(context.Context, *harness.Stack) (int, error)) int {
	flag.Parse()
	if testing.Short() {
		return m.Run()
	}
	//nolint:forbidigo // the top of the program
	ctx := context.Background()
	if _, err := controlplane.Build(ctx, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		if os.Getenv("CI") != "" {
			return 1
		}
		fmt.Fprintln(os.Stderr, "no control plane to test against: skipped")
		return 0
	}
	if o.Log == nil {
		o.Log = os.Stderr
	}
	stack, err := harness.Start(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop(stack, os.Stderr)
	code, err := run(ctx, stack)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func stop(stack *harness.Stack, log io.Writer) {
	if err := stack.Stop(); err != nil {
		_, _ = fmt.Fprintln(log, err) // the tests have ended
	}
}
