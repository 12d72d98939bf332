// Package churn makes things come and go in the running product: nodes, NodePools,
// EC2NodeClasses and policies, on a real control plane with ec2sim and the chart's own
// permissions. What is gone must leave nothing behind in the controller: its heap, its
// resident memory and its goroutines stay as they were, and series of what is gone leave
// /metrics.
//
//	make churn            the whole: 10,000 nodes, 500 NodePools and classes, 1,000 policies
//	make churn CHURN=0.1  a tenth of it
//
// Without CHURN a short share runs, as part of make test.
package churn

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/harness"
)

// stack is what all tests share.
var stack *harness.Stack

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if testing.Short() {
		return m.Run() // every test skips itself
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
	var err error
	stack, err = harness.Start(ctx, harness.Options{
		BootDelay: 200 * time.Millisecond, Log: os.Stderr,
		Values: []string{"controller.env[0].name=ENABLE_PROFILING", "controller.env[0].value=t"},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := stack.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return m.Run()
}
