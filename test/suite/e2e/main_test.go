// Package e2e tests the product end to end on a real control plane: the chart
// is installed, the controller acts with the chart's own permissions, instances
// are launched through the AWS SDK, and Kubernetes schedules the pods.
//
// All tests share one cluster and one controller; each has a NodePool, a
// namespace and instance types of its own, so that most run in parallel. Tests
// that stop the controller are not parallel: they run before the others.
//
// SPOKESHAVE_E2E_DIR names a folder to keep the logs in.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/sharedstack"
)

// stack is what all tests share.
var stack *harness.Stack

func TestMain(m *testing.M) {
	os.Exit(sharedstack.Main(m, harness.Options{
		Dir: os.Getenv("SPOKESHAVE_E2E_DIR"), BootDelay: 300 * time.Millisecond,
	}, func(ctx context.Context, s *harness.Stack) (int, error) {
		stack = s
		if err := stack.Apply(ctx, []byte(harness.DefaultClass)); err != nil {
			return 1, err
		}
		// The tests wait most of the time; one for each core would be a waste.
		if err := flag.Set("test.parallel", "8"); err != nil {
			return 1, err
		}
		return max(m.Run(), permitted()), nil
	}))
}

// permitted returns 1 when the API server has refused the controller something in any of
// the tests: the chart permits every call that it makes.
func permitted() int {
	lines, err := stack.Refused()
	if err != nil || len(lines) > 0 {
		fmt.Fprintln(os.Stderr, "the API server refused the controller:", len(lines), err)
		for _, line := range lines[:min(len(lines), 10)] {
			fmt.Fprintln(os.Stderr, line)
		}
		return 1
	}
	return 0
}
