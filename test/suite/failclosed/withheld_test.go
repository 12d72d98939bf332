package failclosed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/reconcile/decision"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/brokenpolicy"
	"spokeshave.dev/test/kit/eventually"
)

var errAway = errors.New("the API server does not answer")

// line is a client of the API server whose requests fail while it is cut.
type line struct {
	client.WithWatch

	cut      atomic.Bool
	requests atomic.Int32
}

func (s *site) line(t *testing.T) *line {
	t.Helper()
	c, err := client.NewWithWatch(s.server.Config, client.Options{Scheme: s.server.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	l := &line{}
	try := func(call func() error) error {
		l.requests.Add(1)
		if l.cut.Load() {
			return errAway
		}
		return call()
	}
	l.WithWatch = interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return try(func() error { return c.Get(ctx, key, o, opts...) })
		},
		List: func(ctx context.Context, c client.WithWatch, all client.ObjectList, opts ...client.ListOption) error {
			return try(func() error { return c.List(ctx, all, opts...) })
		},
	})
	return l
}

// replica is a controller, from its start: what it reads policies, copies of policies and
// the ledger with, and what it has decided.
type replica struct {
	namespace              string
	policies, copies, book *line
	keeper                 *policies.Reconciler
	tracker                *ledger.Tracker
	decided                atomic.Pointer[result]
}

func (s *site) replica(t *testing.T, namespace string) *replica {
	t.Helper()
	r := &replica{namespace: namespace, policies: s.line(t), copies: s.line(t), book: s.line(t)}
	r.keeper = &policies.Reconciler{
		Client: r.policies, Live: r.copies, Events: events.NewFakeRecorder(100), Clock: clock.RealClock{}, Namespace: namespace,
		Loader:  load.New(load.Config{Namespace: namespace, Engines: engine.All(), Now: time.Now}),
		Leading: func() bool { return true }, Changed: func() {},
	}
	r.tracker = &ledger.Tracker{Client: r.book, Live: r.book, Events: events.NewFakeRecorder(100), Namespace: namespace, Clock: clock.RealClock{}}
	return r
}

// run starts the decision loop in mode Observe. It ends with the test.
func (r *replica) run(t *testing.T, s *site) {
	t.Helper()
	cfg := s.config(t, r.keeper.Loader)
	cfg.Await, cfg.CountSpend = r.keeper.Await, r.tracker.Count
	cfg.Observed = func(_ context.Context, _ *model.Snapshot, d *decide.Decision) error {
		r.decided.Store(&result{
			launched: len(d.Plan.Nodes), removed: slices.ContainsFunc(d.Disruptions, func(x decide.Disruption) bool { return x.Go }),
		})
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- decision.New(cfg).Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func (r *replica) reconcile(t *testing.T) error {
	t.Helper()
	_, err := r.keeper.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: r.namespace, Name: "p"}})
	return err
}

// withheld runs the loop while a line is cut. It must decide nothing, however often it
// tries, and, once the line is mended, what the last good version says.
func (r *replica) withheld(t *testing.T, s *site, k brokenpolicy.Kind, cut, tried *line) {
	t.Helper()
	cut.cut.Store(true)
	failed := r.reconcile(t)
	before := tried.requests.Load()
	r.run(t, s)
	eventually.Ok(t, "some tries", func() (string, bool) {
		n := tried.requests.Load() - before
		return fmt.Sprint(n), n >= 3
	})
	if got := r.decided.Load(); got != nil {
		t.Errorf("it has decided %+v", got)
	}
	cut.cut.Store(false)
	if failed != nil && !errors.Is(failed, errAway) {
		t.Fatal(failed)
	}
	if err := r.reconcile(t); err != nil {
		t.Fatal(err)
	}
	eventually.Ok(t, "a decision", func() (string, bool) { return "", r.decided.Load() != nil })
	if got, want := *r.decided.Load(), expected(t, last, k); got != want {
		t.Errorf("it decides %+v, want %+v", got, want)
	}
}

// TestWithheld: what must not be decided, is not, by the loop with the gates of the
// product.
func TestWithheld(t *testing.T) {
	s := newSite(t)
	apiserver.Run(t, s.manager)
	s.seen(t, 2)
	n := 0
	for row, each := range map[string]map[string]func(*testing.T, *replica, brokenpolicy.Kind){
		"restart, its copy not restored yet": {
			"copies cannot be listed": func(t *testing.T, first *replica, k brokenpolicy.Kind) {
				broken := k.Rows()["`policy.yaml` is missing"][0].ConfigMap(first.namespace, "p")
				if err := s.client.Update(t.Context(), broken); err != nil {
					t.Fatal(err)
				}
				r := s.replica(t, first.namespace)
				r.withheld(t, s, k, r.copies, r.policies)
			},
		},
		"the API server does not answer": {
			"policies": func(t *testing.T, first *replica, k brokenpolicy.Kind) {
				r := s.replica(t, first.namespace)
				r.withheld(t, s, k, r.policies, r.policies)
			},
			"ledger": func(t *testing.T, first *replica, k brokenpolicy.Kind) {
				r := s.replica(t, first.namespace)
				r.withheld(t, s, k, r.book, r.book)
			},
		},
	} {
		_, all := table(t)
		for column, k := range columns() {
			if got := all[row][column]; got != none {
				t.Errorf("%s, %s: the table says %q, want %q", row, column, got, none)
			}
			for name, test := range each {
				t.Run(row+"/"+column+"/"+name, func(t *testing.T) {
					n++
					first := s.replica(t, fmt.Sprint("site-", n))
					s.namespace(t, first.namespace)
					if err := s.client.Create(t.Context(), k.Good().ConfigMap(first.namespace, "p")); err != nil {
						t.Fatal(err)
					}
					if err := first.reconcile(t); err != nil {
						t.Fatal(err)
					}
					test(t, first, k)
				})
			}
		}
	}
}
