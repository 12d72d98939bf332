package breakers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// holds wants no node to drift by an upgrade within three minutes.
func (f *fleet) holds(t *testing.T, upgraded *drift.Reconciler) {
	t.Helper()
	for range 3 {
		if n := f.look(t, upgraded); n != 0 {
			t.Fatalf("%d nodes have drifted by the upgrade", n)
		}
		f.collect(t, 1) // a minute
	}
}

// relabel changes the NodePool's template.
func (f *fleet) relabel(t *testing.T) {
	t.Helper()
	base := f.pool.DeepCopy()
	f.pool.Spec.Template.Metadata.Labels = map[string]string{"team": "a"}
	if err := f.client.Patch(t.Context(), f.pool, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
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
			f.relabel(t)
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
			f.holds(t, upgraded)
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

// TestDriftWithoutRecord: all nodes have drifted, and nothing is known of before: this is the first version with
// breakers, or the record was lost. None is replaced until somebody changes the NodePool.
func TestDriftWithoutRecord(t *testing.T) {
	for name, lose := range map[string]func(*testing.T, *fleet){
		"first start": func(*testing.T, *fleet) {},
		"record is deleted": func(t *testing.T, f *fleet) {
			t.Helper()
			f.look(t, f.drifts("1"))
			f.collect(t, 1)
			if err := f.client.Delete(t.Context(), f.record(t)); err != nil {
				t.Fatal(err)
			}
		},
		"record is garbled": func(t *testing.T, f *fleet) {
			t.Helper()
			f.look(t, f.drifts("1"))
			f.collect(t, 1)
			cm := f.record(t)
			for key := range cm.Data {
				cm.Data[key] = "{"
			}
			if err := f.client.Update(t.Context(), cm); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			f.launch(t, "node", 6)
			f.collect(t, 2)
			lose(t, f)
			f.rehash(t, f.claims(t))
			f.restart()
			f.collect(t, 1)
			upgraded := f.drifts("2")
			f.holds(t, upgraded)
			f.said(t, "DisruptionStopped", "6 of the 6 nodes of NodePool general have drifted", "no change of the NodePool or its class is on record")
			f.relabel(t)
			f.collect(t, 1)
			if n := f.look(t, upgraded); n != 6 {
				t.Errorf("%d nodes have drifted once the NodePool was changed, want all", n)
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

// expire looks at the age of every claim, three minutes long, and returns how many claims are left. overdue says of which
// claims it is found that they were due an hour ago.
func (f *fleet) expire(t *testing.T, overdue func(name string) bool) int {
	t.Helper()
	r := &expiration.Reconciler{
		Deleter: &forceful.Deleter{Client: f.client, Clock: f.controller.clock}, Events: f.controller.events, Clock: f.controller.clock,
		Client: f.client, Breaker: f.controller.breaker,
	}
	for range 3 {
		for _, claim := range f.claims(t) {
			if overdue != nil && overdue(claim.Name) {
				claim.CreationTimestamp = metav1.NewTime(r.Clock.Now().Add(-time.Hour))
				claim.Spec.ExpireAfter = "1m"
			}
			if _, err := r.Reconcile(t.Context(), &claim); err != nil {
				t.Fatal(err)
			}
		}
		f.collect(t, 1) // a minute
	}
	return len(f.claims(t))
}

// TestExpiryByAWrongClock: the clock of the controller's machine is a month ahead, by which
// every node has expired. None is deleted. At the right time, all are.
func TestExpiryByAWrongClock(t *testing.T) {
	f := newFleet(t)
	f.launch(t, "node", 6)
	f.collect(t, 2)
	f.advance(31 * 24 * time.Hour)
	f.collect(t, 1)
	if n := f.expire(t, nil); n != 6 {
		t.Errorf("%d claims are left, want all", n)
	}
	f.said(t, "DisruptionStopped", "6 of 6 nodes have suddenly reached the age of expireAfter, but the clock", "allow-expiration=")
	f.allow(t, breaker.Expiration)
	f.collect(t, 1)
	if n := f.expire(t, nil); n != 0 {
		t.Errorf("%d claims are left, want none after it was allowed", n)
	}
}

// TestExpiryThatNobodyFound: a new version of the controller reads expireAfter in another way, by which nodes are long past their
// age that the one which was there until now did not find. Two are deleted, since any limit lets two pass, and six are not.
func TestExpiryThatNobodyFound(t *testing.T) {
	all := func(string) bool { return true }
	for name, tc := range map[string]struct {
		overdue func(string) bool
		left    int
	}{
		"all": {overdue: all, left: 6},
		"two": {overdue: func(name string) bool { return name < "node-02" }, left: 4},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleetAt(t, -2*time.Minute) // at the end it is as much ahead, and clocks may differ by two minutes
			f.launch(t, "node", 6)
			f.collect(t, 1) // the earlier version was there
			f.restart()
			f.collect(t, 1)
			if n := f.expire(t, tc.overdue); n != tc.left {
				t.Fatalf("%d claims are left, want %d", n, tc.left)
			}
			if tc.left < 6 {
				return
			}
			f.said(t, "DisruptionStopped", "6 of 6 nodes have suddenly reached the age of expireAfter, and the controller that was there until now did not find that", "allow-expiration=")
			f.allow(t, breaker.Expiration)
			f.collect(t, 1)
			if n := f.expire(t, tc.overdue); n != 0 {
				t.Errorf("%d claims are left, want none after it was allowed", n)
			}
		})
	}
}
