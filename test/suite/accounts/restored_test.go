package accounts

import (
	"fmt"
	"testing"
	"time"

	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/apiserver"
)

// TestRestoredLedger: the API server is restored from a backup while a controller runs, which then starts
// again. Its ledger is stored before it does: the month has cost what it had. When it could not be, the
// month is in doubt: the nodes that were launched since the backup are lost, too.
func TestRestoredLedger(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for name, tc := range map[string]struct {
		stored bool
		hours  float64
		doubt  string
	}{
		"stored":     {stored: true, hours: 7.01},
		"not stored": {hours: 7.01, doubt: "the API server was restored from a backup before"}, // the one node that is left has run all the time
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, c, map[bool]string{true: "stored", false: "lost"}[tc.stored], middle)
			k := o.keeper()
			o.want(t, k, "before the backup", 1, "")
			backup := o.read(t, ledger.Name)
			o.clock.Step(6 * time.Hour)
			o.want(t, k, "six hours later", 7, "")
			_, cm, err := o.store(ledger.Name).Read(t.Context())
			if err == nil {
				_, err = o.store(ledger.Name).Replace(t.Context(), cm, []byte(backup), nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			o.clock.Step(30 * time.Second)
			found := o.clock.Now()
			mark := o.object(breaker.Name)
			mark.Data = map[string]string{"state": fmt.Sprintf(`{"seen":%q,"restored":%q}`, found.Format(time.RFC3339Nano), found.Format(time.RFC3339Nano))}
			if err := c.Create(t.Context(), mark); err != nil {
				t.Fatal(err)
			}
			if k.Recorded(found) {
				t.Error("it does not end after that, and says so")
			}
			if tc.stored {
				o.clock.Step(time.Second) // it is not due by the time
				o.want(t, k, "asked to be stored", 7+31./3600, "")
				if !k.Recorded(found) {
					t.Error("it ends after that, and does not say so")
				}
			}
			next := o.keeper()
			o.clock.SetTime(middle.Add(6*time.Hour + 36*time.Second))
			o.want(t, next, "after the restart", tc.hours, tc.doubt)
		})
	}
}
