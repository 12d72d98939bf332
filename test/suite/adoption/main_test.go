// Package adoption swaps controllers on a cluster that Karpenter 1.14.1 left behind: its
// objects, as it wrote them, in a real control plane, and its instances in the EC2
// simulator. The controller starts as the chart starts it, takes over without moving
// anything, rolls the adopted nodes when their templates change, and leaves objects with
// which Karpenter can go on.
//
// testdata holds what was recorded from a running Karpenter.
package adoption

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

// clusterName is the name of the recorded cluster in AWS. Hashes contain it.
const clusterName = "mig"

// stack is what all steps share.
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
	if stack, err = harness.Start(ctx, harness.Options{
		Dir: os.Getenv("SPOKESHAVE_ADOPTION_DIR"), BootDelay: 300 * time.Millisecond, Log: os.Stderr,
		Cluster: clusterName, Stopped: true,
	}); err != nil {
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
