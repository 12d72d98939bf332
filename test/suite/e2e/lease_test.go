package e2e

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"spokeshave.dev/test/kit/harness"
)

// stopController ends the controller and sees to it that one runs again after
// the test.
func stopController(t *testing.T) {
	t.Helper()
	if err := stack.StopController(t.Context(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 90*time.Second)
		defer cancel()
		if err := stack.StopController(ctx, syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := stack.StartController(ctx); err != nil {
			t.Error(err)
		}
	})
}

// nothing checks that the tenant has neither instances nor claims.
func (l *tenant) nothing(ctx context.Context) (string, bool) {
	state, n := l.count(ctx)
	return state, n == 0
}

// TestBesideKarpenter: while another controller holds Karpenter's lease nothing
// is launched; when it lets go, the work begins.
func TestBesideKarpenter(t *testing.T) {
	l := newTenant(t, "beside", plan{types: "c5a.large", capacity: "on-demand"})
	stopController(t)
	key := types.NamespacedName{Namespace: "kube-system", Name: "karpenter-leader-election"}
	lease := &coordinationv1.Lease{}
	if err := stack.Client.Get(t.Context(), key, lease); err != nil {
		t.Fatalf("the controller has never held Karpenter's lease: %v", err)
	}
	lease.Spec.HolderIdentity = new("karpenter-0")
	lease.Spec.LeaseDurationSeconds = new(int32(3600))
	lease.Spec.RenewTime = new(metav1.NowMicro())
	lease.Spec.AcquireTime = lease.Spec.RenewTime
	if err := stack.Client.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if err := stack.LaunchController(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.deploy("app", 1, "500m")
	l.holds("nothing is launched", 8*time.Second, l.nothing)
	if state, leads := stack.Leads(t.Context()); leads {
		t.Errorf("the controller leads beside Karpenter: %s", state)
	}
	if err := stack.Client.Get(t.Context(), key, lease); err != nil {
		t.Fatal(err)
	}
	if holder := *lease.Spec.HolderIdentity; holder != "karpenter-0" {
		t.Errorf("the lease was taken by %s", holder)
	}
	l.remove(lease)
	l.run(1)
}

// TestObserve: an observer decides and writes down, and changes nothing.
func TestObserve(t *testing.T) {
	l := newTenant(t, "observe", plan{types: "m5a.large", capacity: "on-demand"})
	stopController(t)
	if err := stack.LaunchController(t.Context(), "--mode=Observe"); err != nil {
		t.Fatal(err)
	}
	l.deploy("app", 2, "500m")
	l.until("a decision about the pods", func(ctx context.Context) (string, bool) {
		all, err := stack.Decisions(ctx)
		if err != nil {
			return err.Error(), false
		}
		for i := range all {
			for k := range all[i].Nodes {
				if n := &all[i].Nodes[k]; n.NodePool == l.name && len(n.Pods) == 2 && n.Best.InstanceType == "m5a.large" {
					return "", true
				}
			}
		}
		return fmt.Sprintf("%d decisions, none with a node for both pods: %s", len(all), harness.JSON(all)), false
	})
	l.holds("nothing is launched", 3*time.Second, l.nothing)
}
