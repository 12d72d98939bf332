// Package adoption swaps controllers on a cluster that Karpenter 1.14.1 left behind: its
// objects, as it wrote them, in a real control plane, and its instances in the EC2
// simulator. The controller starts as the chart starts it, takes over without moving
// anything, rolls the adopted nodes when their templates change, and leaves objects with
// which Karpenter can go on.
package adoption

import (
	"context"
	"os"
	"testing"
	"time"

	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/karpenter"
	"spokeshave.dev/test/kit/sharedstack"
)

// stack is what all steps share.
var stack *harness.Stack

func TestMain(m *testing.M) {
	os.Exit(sharedstack.Main(m, harness.Options{
		Dir: os.Getenv("SPOKESHAVE_ADOPTION_DIR"), BootDelay: 300 * time.Millisecond,
		Cluster: karpenter.ClusterName, Bare: true, WithoutCA: true,
	}, func(_ context.Context, s *harness.Stack) (int, error) {
		stack = s
		return m.Run(), nil
	}))
}
