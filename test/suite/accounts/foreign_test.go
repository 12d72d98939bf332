package accounts

import (
	"testing"
	"time"

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
