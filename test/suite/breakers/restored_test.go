package breakers

import (
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/kube/reconcile/breaker"
)

// TestForgotIsMarked: a controller that starts after a backup was restored cannot tell by revisions. When it finds
// an instance that the API server has forgotten, it says so on record, once, and that it has not seen the
// API server before that: what it has read is what was restored. One that was there has seen it.
func TestForgotIsMarked(t *testing.T) {
	for name, restarted := range map[string]bool{"controller runs on": false, "controller restarts": true} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			f.launch(t, "old", 5)
			f.collect(t, 2)
			if at, _ := breaker.Restored(f.controller.breaker); !at.IsZero() {
				t.Errorf("restored at %s, before anything was", at)
			}
			backup := f.record(t)
			f.advance(time.Hour)
			since := f.launch(t, "new", 2)
			f.collect(t, 2)
			f.lose(t, since)
			f.restore(t, backup)
			if restarted {
				f.restart()
			}
			f.collect(t, 2)
			at, good := breaker.Restored(f.controller.breaker)
			if at.IsZero() || good.IsZero() != restarted || !good.Before(at) {
				t.Errorf("restored at %s, last seen at %s", at, good)
			}
			f.collect(t, 3)
			if again, _ := breaker.Restored(f.controller.breaker); !again.Equal(at) {
				t.Errorf("it is found again at %s", again)
			}
			f.restart()
			f.collect(t, 2)
			if later, _ := breaker.Restored(f.controller.breaker); !later.Equal(at) {
				t.Errorf("the next controller knows %s, want %s", later, at)
			}
		})
	}
}

// refusesOnce is an API server that answers the first update with a conflict.
type refusesOnce struct {
	client.Client

	refused bool
}

func (c *refusesOnce) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if !c.refused {
		c.refused = true
		return apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, o.GetName(), nil)
	}
	return c.Client.Update(ctx, o, opts...)
}

// TestRewoundIsTold: a replica that does not lead may be the only one that was there. What it puts on record
// the leader knows from then on, and keeps; of several replicas one does.
func TestRewoundIsTold(t *testing.T) {
	f := newFleet(t)
	f.launch(t, "node", 2)
	f.collect(t, 2)
	leader := f.controller.breaker
	replica := func() *breaker.Breaker {
		f.restart()
		return f.controller.breaker
	}
	first, second := replica(), replica()
	good := f.clock.Now().Add(-10 * time.Second)
	first.Client = &refusesOnce{Client: f.client}
	if err := breaker.Rewound(t.Context(), first, time.Time{}, good); err == nil {
		t.Error("a write that failed is no error")
	}
	if err := breaker.Rewound(t.Context(), first, time.Time{}, good); err != nil {
		t.Fatal(err)
	}
	_, at, err := breaker.Marks(t.Context(), f.client, namespace)
	if _, seen := breaker.Restored(first); err != nil || at.IsZero() || !seen.Equal(good) {
		t.Errorf("restored at %s (%v), last seen at %s, want %s", at, err, seen, good)
	}
	f.advance(time.Minute)
	if err := breaker.Rewound(t.Context(), second, time.Time{}, good); err != nil {
		t.Fatal(err)
	}
	if err := leader.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, seen := breaker.Restored(leader); !got.Equal(at) || !seen.IsZero() {
		t.Errorf("the leader knows %s and says that it was there at %s, want %s and never", got, seen, at)
	}
	if err := breaker.Rewound(t.Context(), leader, time.Time{}, good); err != nil {
		t.Fatal(err)
	}
	if got, seen := breaker.Restored(leader); !got.Equal(at) || !seen.Equal(good) {
		t.Errorf("the leader has found it, too: it knows %s and was there at %s, want %s and %s", got, seen, at, good)
	}
	f.advance(time.Hour)
	if err := leader.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, got, err := breaker.Marks(t.Context(), f.client, namespace); err != nil || !got.Equal(at) {
		t.Errorf("on record is %s (%v), want %s", got, err, at)
	}
	// The next time, by a replica whose clock is behind.
	third := replica()
	f.controller.clock.SetTime(at.Add(-time.Minute))
	if err := breaker.Rewound(t.Context(), third, at, good); err != nil {
		t.Fatal(err)
	}
	if _, got, err := breaker.Marks(t.Context(), f.client, namespace); err != nil || !got.After(at) {
		t.Errorf("the next time is %s (%v), not after %s", got, err, at)
	}
	if got := f.record(t).Data; !strings.Contains(got["state"], `"launched":`) {
		t.Errorf("the replica has written over what the leader has: %v", got)
	}
}

// TestForgotIsMarkedWhereAllowed: somebody has allowed the end of what was forgotten before a controller runs. That it was
// forgotten goes on record all the same.
func TestForgotIsMarkedWhereAllowed(t *testing.T) {
	f := newFleet(t)
	f.launch(t, "old", 3)
	f.collect(t, 2)
	backup := f.record(t)
	f.advance(time.Hour)
	since := f.launch(t, "new", 2)
	f.collect(t, 2)
	f.lose(t, since)
	f.restore(t, backup)
	f.restart()
	f.allow(t, breaker.GarbageCollection)
	f.collect(t, 3)
	f.wantInstances(t, "it was allowed", 3)
	if at, _ := breaker.Restored(f.controller.breaker); at.IsZero() {
		t.Error("that instances were forgotten is not on record")
	}
}
