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
	"os"
	"testing"
	"time"

	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/sharedstack"
)

// stack is what all tests share.
var stack *harness.Stack

// journalMemory bounds the decisions that the controller keeps. The default, 32Mi, is not
// reached by all that comes and goes here, so that memory would grow by design until the end.
// With this one the journal is full before the first measurement, and what it takes beyond
// its bound counts as growth like anything else.
const journalMemory = "256Ki"

func TestMain(m *testing.M) {
	os.Exit(sharedstack.Main(m, harness.Options{
		BootDelay: 200 * time.Millisecond,
		Values:    []string{"controller.env[0].name=ENABLE_PROFILING", "controller.env[0].value=t", "controller.journalMemory=" + journalMemory},
	}, func(_ context.Context, s *harness.Stack) (int, error) {
		stack = s
		return m.Run(), nil
	}))
}
