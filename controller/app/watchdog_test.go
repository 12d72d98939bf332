package app

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/source"
)

// hanging is a decision loop in which the solver never returns, whatever the context
// says.
type hanging struct {
	began   atomic.Int64
	release chan struct{}
}

func (*hanging) NeedLeaderElection() bool { return true }

func (h *hanging) Start(context.Context) error {
	h.began.Store(time.Now().UnixNano())
	<-h.release
	return nil
}

func (h *hanging) busy() time.Duration {
	began := h.began.Load()
	if began == 0 {
		return 0
	}
	return time.Since(time.Unix(0, began))
}

// serving returns the configuration of a client of an API server that serves the product's kinds.
func serving(t *testing.T) *rest.Config {
	t.Helper()
	cfg := controlplane.ForTest(t, false).Config()
	root, err := source.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := controlplane.InstallCRDs(t.Context(), cfg, filepath.Join(root, "charts", "spokeshave", "files", "crds")); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestStuckLoop: a controller whose decision hangs fails its liveness probe, ends by
// itself, and lets go of both leases, so that another replica can take over.
func TestStuckLoop(t *testing.T) {
	cfg := serving(t)
	o := &Options{
		Namespace: "default", LeaderElectionName: "spokeshave", KarpenterLeaseName: "karpenter", KarpenterLeaseNamespace: "kube-system",
		Mode: string(Act), Identity: "stuck",
	}
	mgr, err := newManager(t.Context(), o, cfg)
	if err != nil {
		t.Fatal(err)
	}
	loop := &hanging{release: make(chan struct{})}
	defer close(loop.release)
	dog := &watchdog{busy: loop.busy, limit: 2 * time.Second, clock: clock.RealClock{}}
	if err := dog.addTo(mgr); err != nil {
		t.Fatal(err)
	}
	if err := mgr.Add(manager.Runnable(loop)); err != nil {
		t.Fatal(err)
	}
	if err := dog.check(); err != nil {
		t.Errorf("before it leads: %v", err)
	}
	if err := mgr.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "stuck") {
		t.Errorf("the manager ended with %v", err)
	}
	if err := dog.probe(nil); err == nil {
		t.Error("the liveness probe succeeds")
	}
	c, err := client.New(cfg, client.Options{Scheme: mgr.GetScheme()})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []client.ObjectKey{{Namespace: "default", Name: "spokeshave"}, {Namespace: "kube-system", Name: "karpenter"}} {
		lease := &coordinationv1.Lease{}
		if err := c.Get(t.Context(), key, lease); err != nil {
			t.Fatal(err)
		}
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity != "" {
			t.Errorf("lease %s is held by %v", key, lease.Spec.HolderIdentity)
		}
	}
}
