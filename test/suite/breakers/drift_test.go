package breakers

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/reconcile/drift"
	"spokeshave.dev/controller/kube/reconcile/expiration"
	"spokeshave.dev/controller/kube/reconcile/forceful"
)

// drifts returns the drift reconciler of a version of the controller.
func (f *fleet) drifts(version string) *drift.Reconciler {
	return &drift.Reconciler{Client: f.client, Provider: f.cloud, Clock: f.controller.clock, Breaker: f.controller.breaker, Version: version}
}

// look reconciles every claim, and returns how many have drifted.
func (f *fleet) look(t *testing.T, r *drift.Reconciler) int {
	t.Helper()
	for _, claim := range f.claims(t) {
		if _, err := r.Reconcile(t.Context(), &claim); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, claim := range f.claims(t) {
		if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionDrifted) {
			n++
		}
	}
	return n
}

func (f *fleet) claims(t *testing.T) []karpv1.NodeClaim {
	t.Helper()
	var all karpv1.NodeClaimList
	if err := f.client.List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	return all.Items
}

// rehash gives claims the hash that they would have been launched with by a controller
// that hashes NodePools in another way.
func (f *fleet) rehash(t *testing.T, claims []karpv1.NodeClaim) {
	t.Helper()
	for i := range claims {
		base := claims[i].DeepCopy()
		claims[i].Annotations[karpv1.AnnotationNodePoolHash] = "of-another-version"
		if err := f.client.Patch(t.Context(), &claims[i], client.MergeFrom(base)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDriftOfAnUpgrade: a new version of the controller finds that all nodes have drifted,
// and nobody has changed their NodePool. None is replaced until that is allowed, or until
// somebody does change the NodePool.
func TestDriftOfAnUpgrade(t *testing.T) {
	for name, ask := range map[string]func(*testing.T, *fleet){
		"allowed": func(t *testing.T, f *fleet) {
			t.Helper()
			f.allow(t, breaker.Drift)
		},
		"the NodePool is changed": func(t *testing.T, f *fleet) {
			t.Helper()
			base := f.pool.DeepCopy()
			f.pool.Spec.Template.Metadata.Labels = map[string]string{"team": "a"}
			if err := f.client.Patch(t.Context(), f.pool, client.MergeFrom(base)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			f.launch(t, "node", 6)
			f.collect(t, 2)
			if n := f.look(t, f.drifts("1")); n != 0 {
				t.Fatalf("%d nodes have drifted from the start", n)
			}
			f.collect(t, 1)
			f.advance(time.Hour)

			f.rehash(t, f.claims(t))
			f.restart()
			f.collect(t, 1)
			upgraded := f.drifts("2")
			for range 3 {
				if n := f.look(t, upgraded); n != 0 {
					t.Fatalf("%d nodes have drifted by the upgrade", n)
				}
				f.collect(t, 1) // a minute
			}
			f.said(t, "DisruptionStopped", "6 of the 6 nodes of NodePool general have drifted (NodePoolDrifted)", "allow-drift=")
			f.restart()
			f.collect(t, 1)
			upgraded = f.drifts("2")
			if n := f.look(t, upgraded); n != 0 || !f.controller.breaker.Stopped(breaker.Drift, "general") {
				t.Fatalf("%d nodes have drifted after a restart", n)
			}

			ask(t, f)
			f.collect(t, 1)
			if n := f.look(t, upgraded); n != 6 {
				t.Errorf("%d nodes have drifted, want all", n)
			}
			if f.controller.breaker.Stopped(breaker.Drift, "general") {
				t.Error("it is stopped still")
			}
		})
	}
}

// TestDriftOfAFew: two nodes that drift for no known reason are replaced, a minute later.
func TestDriftOfAFew(t *testing.T) {
	f := newFleet(t)
	claims := f.launch(t, "node", 6)
	f.collect(t, 2)
	r := f.drifts("1")
	f.look(t, r)
	f.advance(time.Hour)
	f.rehash(t, claims[:2])
	if n := f.look(t, r); n != 0 {
		t.Errorf("%d nodes have drifted at once, before others could be counted", n)
	}
	f.advance(2 * time.Minute)
	if n := f.look(t, r); n != 2 {
		t.Errorf("%d nodes have drifted, want 2", n)
	}
}

// TestExpiryByAWrongClock: the clock of the controller's machine is a month ahead, by which
// every node has expired. None is deleted. At the right time, all are.
func TestExpiryByAWrongClock(t *testing.T) {
	f := newFleet(t)
	f.launch(t, "node", 6)
	f.collect(t, 2)
	expire := func() int {
		t.Helper()
		r := &expiration.Reconciler{
			Deleter: &forceful.Deleter{Client: f.client, Clock: f.controller.clock}, Events: f.controller.events, Clock: f.controller.clock,
			Client: f.client, Breaker: f.controller.breaker,
		}
		for range 3 {
			for _, claim := range f.claims(t) {
				if _, err := r.Reconcile(t.Context(), &claim); err != nil {
					t.Fatal(err)
				}
			}
			f.collect(t, 1) // a minute
		}
		return len(f.claims(t))
	}
	f.advance(31 * 24 * time.Hour)
	f.collect(t, 1)
	if n := expire(); n != 6 {
		t.Errorf("%d claims are left, want all", n)
	}
	f.said(t, "DisruptionStopped", "6 of 6 nodes have suddenly reached the age of expireAfter, but the clock", "allow-expiration=")
	f.allow(t, breaker.Expiration)
	f.collect(t, 1)
	if n := expire(); n != 0 {
		t.Errorf("%d claims are left, want none after it was allowed", n)
	}
}
