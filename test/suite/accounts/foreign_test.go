package accounts

import (
	"context"
	"io"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/apiserver"
)

// TestForeignLedger: the stored ledger is replaced while a leader counts. Only a successor's
// ledger is read. The month does not become cheaper by any other.
func TestForeignLedger(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for name, tc := range map[string]struct {
		reason string
		forge  func(t *testing.T, o *office, before string) string
		doubt  string
	}{
		"older":    {reason: "an API server that was restored has one of before", forge: func(_ *testing.T, _ *office, before string) string { return before }},
		"garbled":  {reason: "no controller writes that", forge: func(*testing.T, *office, string) string { return "{" }},
		"of today": {reason: "as if the month began now", forge: begun, doubt: "replaced by one with 0.00 $ in place of 0.10 $"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, c, "foreign-"+name[:2], middle)
			k := o.keeper()
			o.want(t, k, "before", 1, "")
			before := o.read(t, ledger.Name)
			o.clock.Step(2 * time.Minute)
			o.want(t, k, "later", 1+2./60, "")
			o.clock.Step(30 * time.Second)
			if err := o.store(ledger.Name).Write(t.Context(), []byte(tc.forge(t, o, before))); err != nil {
				t.Fatal(err)
			}
			o.clock.Step(90 * time.Second)
			o.count(t, k)
			if !o.told("LedgerLost") {
				t.Errorf("%s: nobody is told", tc.reason)
			}
			o.clock.Step(2 * time.Minute)
			o.want(t, k, tc.reason, 1+6./60, tc.doubt)
			o.clock.Step(time.Minute)
			o.want(t, o.keeper(), "the next leader", 1+7./60, tc.doubt)
		})
	}
}

// begun is a ledger that begins now, with nothing in it.
func begun(t *testing.T, o *office, _ string) string {
	t.Helper()
	l := spend.New(&model.Snapshot{Time: o.clock.Now()})
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lossy is the way to an API server, on which the answers to so many updates get lost.
type lossy struct {
	client.Client

	lose int
}

// Update carries the update out.
func (l *lossy) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if err := l.Client.Update(ctx, o, opts...); err != nil || l.lose == 0 {
		return err
	}
	l.lose--
	return io.ErrUnexpectedEOF
}

// TestUnansweredWrite: the API server stores the ledger, and its answer gets lost. That ledger is this
// controller's own: what it has counted since, here a saving, is not given up for it.
func TestUnansweredWrite(t *testing.T) {
	way := &lossy{Client: apiserver.Start(t).Client(t)}
	o := newOffice(t, way, "unanswered", middle)
	k := o.keeper()
	o.want(t, k, "at first", 1, "")
	way.lose = 1
	o.clock.Step(time.Hour)
	o.want(t, k, "not answered", 2, "")
	if way.lose != 0 {
		t.Fatal("nothing was written")
	}
	s := snapshot(0)
	s.Time = o.clock.Now()
	k.CountSaved(s, &decide.Decision{Commands: []decide.Command{{ID: "a", Method: decide.MethodUnderutilized, Stage: decide.Finish, Nodes: []int32{0}, Savings: 1000}}})
	o.clock.Step(time.Hour)
	o.want(t, k, "stored again", 3, "")
	o.clock.Step(time.Hour)
	o.want(t, k, "an hour later", 4, "")
	if saved := k.Latest().Saved; len(saved) != 1 || saved[0].Count != 1 {
		t.Errorf("saved are %v, want one consolidation", saved)
	}
	if o.told(karpv1.EventLedgerLost) {
		t.Error("the ledger is said to be lost")
	}
	next := o.keeper()
	o.want(t, next, "after a restart", 4, "")
	if saved := next.Latest().Saved; len(saved) != 1 {
		t.Errorf("after a restart, saved are %v", saved)
	}
}
