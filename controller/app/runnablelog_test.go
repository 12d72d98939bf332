package app

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// TestRunnablesLog: what the manager runs, the decision loop included, finds the controller's logger in its
// context. A context without one discards what is logged, errors of rounds included.
func TestRunnablesLog(t *testing.T) {
	cfg := serving(t)
	var said atomic.Bool
	log := funcr.New(func(_, line string) {
		if strings.Contains(line, "a runnable says this") {
			said.Store(true)
		}
	}, funcr.Options{})
	o := &Options{
		Namespace: "default", LeaderElectionName: "spokeshave", KarpenterLeaseName: "karpenter", KarpenterLeaseNamespace: "kube-system",
		Mode: string(Act), Identity: "logging", DisableLeaderElection: true,
	}
	mgr, err := newManager(logr.NewContext(t.Context(), log), o, cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	err = mgr.Add(manager.RunnableFunc(func(own context.Context) error {
		logr.FromContextOrDiscard(own).Info("a runnable says this")
		end()
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := mgr.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if !said.Load() {
		t.Error("the log lacks the line of a runnable")
	}
}
