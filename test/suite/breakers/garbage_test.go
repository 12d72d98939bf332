package breakers

import (
	"context"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/breaker"
)

// TestRestoredBackup: the API server is restored from a backup of an hour ago. It does not
// know the two claims that were made since, which are few enough to be collected. The
// instances go on, also after a restart, until they are allowed to end.
func TestRestoredBackup(t *testing.T) {
	for name, restarted := range map[string]bool{"controller runs on": false, "controller restarts": true} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			f.launch(t, "old", 5)
			f.collect(t, 2)
			backup := f.record(t)
			f.advance(time.Hour)
			f.collect(t, 2)
			since := f.launch(t, "new", 2)
			f.collect(t, 2)
			f.wantInstances(t, "before the backup is restored", 7)

			f.lose(t, since)
			f.restore(t, backup)
			if restarted {
				f.restart()
			}
			f.collect(t, 5)
			f.wantInstances(t, "the API server has lost the claims", 7)
			f.said(t, "DisruptionStopped", "2 instances were launched after", "allow-garbage-collection=")
			f.restart()
			f.collect(t, 3)
			f.wantInstances(t, "a controller that starts later", 7)
			f.said(t, "DisruptionStopped", "2 instances were launched after")

			f.allow(t, breaker.GarbageCollection)
			f.collect(t, 2)
			f.wantInstances(t, "somebody has allowed it", 5)
			f.said(t, "DisruptionAllowed")
			f.advance(2 * time.Hour)
			if f.controller.breaker.Stopped(breaker.GarbageCollection, "") {
				t.Error("it is stopped still")
			}
		})
	}
}

// TestRestoredAtOnce: nodes are launched right after the backup, and it is restored soon after,
// by when the controller has looked at the new instances once at most. They are too few and
// too young to be stopped by their number or by the clock, and go on all the same.
func TestRestoredAtOnce(t *testing.T) {
	for name, restarted := range map[string]bool{"controller runs on": false, "controller restarts": true} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			f.launch(t, "old", 5)
			f.collect(t, 2)
			backup := f.record(t)
			since := []karpv1.NodeClaim{*f.launchOne(t, "new-1"), *f.launchOne(t, "new-2")}
			f.advance(10 * time.Second)
			f.pass(t)

			f.lose(t, since)
			f.restore(t, backup)
			if restarted {
				f.restart()
			}
			for range 6 { // from when the instances are too young to be ended
				f.pass(t)
				f.advance(10 * time.Second)
			}
			f.wantInstances(t, "the API server has lost the claims", 7)
			f.said(t, "DisruptionStopped", "2 instances were launched after", "allow-garbage-collection=")
		})
	}
}

// TestRestoredAfterALaunch: nodes are launched right after the backup, and it is restored
// before the controller has listed the new instances. That there was a launch is on record by
// then, or could not be written.
func TestRestoredAfterALaunch(t *testing.T) {
	for name, tc := range map[string]struct {
		reason    string
		old       int
		restarted bool
		// away says that the API server does not answer when the launch is to be put on record.
		away bool
	}{
		"controller runs on":       {reason: "it wrote something that the backup does not have", old: 5},
		"controller restarts":      {reason: "the backup has the newest launch that was seen by then", old: 5, restarted: true},
		"nothing could be written": {reason: "the API server is being restored already", old: 5, away: true},
		"first instances":          {reason: "the backup says that there was no instance"},
		"first, restarts":          {reason: "the backup says that there was no instance", restarted: true},
		"first, not written":       {reason: "the API server is being restored already", away: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			f.launch(t, "old", tc.old)
			f.collect(t, 2)
			backup := f.record(t)
			f.advance(10 * time.Second)
			since := []karpv1.NodeClaim{*f.launchOne(t, "new-1"), *f.launchOne(t, "new-2")}
			f.advance(time.Second)
			if tc.away {
				f.controller.breaker.Live = away{f.client}
			}
			if err := breaker.Launched(t.Context(), f.controller.breaker); (err != nil) != tc.away {
				t.Fatal(err)
			}
			f.controller.breaker.Live = f.client

			f.lose(t, since)
			f.restore(t, backup)
			if tc.restarted {
				f.restart()
			}
			for range 6 { // from when the instances are too young to be ended
				f.pass(t)
				f.advance(10 * time.Second)
			}
			f.wantInstances(t, tc.reason, tc.old+2)
			f.said(t, "DisruptionStopped", "2 instances were launched after", "allow-garbage-collection=")
		})
	}
}

// away is an API server that does not answer.
type away struct{ client.Reader }

func (away) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return context.DeadlineExceeded
}

// stale is a watch cache that goes on after the API server was restored: it still has the
// claims that the API server has lost.
type stale struct {
	client.Client

	claims []karpv1.NodeClaim
}

func (s stale) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if claims, ok := list.(*karpv1.NodeClaimList); ok {
		claims.Items = slices.Clone(s.claims)
		return nil
	}
	return s.Client.List(ctx, list, opts...)
}

// TestRestoredBehindACache: the API server is restored from a backup, and the controller's
// watch cache has not noticed yet. What is compared then is what the API server itself
// knows: the instance is not ended once the cache has caught up.
func TestRestoredBehindACache(t *testing.T) {
	f := newFleet(t)
	f.launch(t, "old", 5)
	f.collect(t, 2)
	backup := f.record(t)
	f.advance(time.Hour)
	f.collect(t, 2)
	since := f.launch(t, "new", 1)
	f.collect(t, 2)
	behind := stale{f.client, f.claims(t)}
	f.lose(t, since)
	f.restore(t, backup)
	f.controller.garbage.Client = behind
	f.collect(t, 2)
	f.controller.garbage.Client = f.client
	f.collect(t, 3)
	f.wantInstances(t, "the cache has caught up", 6)
	f.said(t, "DisruptionStopped", "1 instances were launched after", "allow-garbage-collection=")
}

// TestManyWithoutClaims: a few instances without a claim are ended, more than a tenth are
// not until their claims are back or it is allowed.
func TestManyWithoutClaims(t *testing.T) {
	f := newFleet(t)
	claims := f.launch(t, "node", 30)
	f.collect(t, 2)
	f.lose(t, claims[:2])
	f.collect(t, 2)
	f.wantInstances(t, "two of thirty have no claim", 28)
	f.lose(t, claims[2:5])
	f.collect(t, 2)
	f.wantInstances(t, "three more, within the hour", 28)
	f.said(t, "DisruptionStopped", "3 of 28 instances have no NodeClaim, and 2 were ended within the hour; more than 3 may not be ended")
	f.advance(2 * time.Hour)
	f.collect(t, 2)
	f.wantInstances(t, "what is stopped stays so", 28)
	f.allow(t, breaker.GarbageCollection)
	f.collect(t, 1)
	f.wantInstances(t, "it is allowed", 25)
}

// TestRecordDeleted: somebody deletes the ConfigMap. Garbage collection goes on, since no
// instance lacks a claim, and the ConfigMap is written again.
func TestRecordDeleted(t *testing.T) {
	f := newFleet(t)
	f.launch(t, "node", 3)
	f.collect(t, 2)
	if err := f.client.Delete(t.Context(), f.record(t)); err != nil {
		t.Fatal(err)
	}
	f.collect(t, 2)
	f.record(t)
	if f.controller.breaker.Stopped(breaker.GarbageCollection, "") {
		t.Error("it is stopped")
	}
	f.wantInstances(t, "nothing was wrong", 3)
}
