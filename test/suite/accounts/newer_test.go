package accounts

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/configmap"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/apiserver"
)

func (o *office) store(name string) *configmap.Store {
	key := ledger.Key
	if strings.HasPrefix(name, "spokeshave-spend-") {
		key = spend.HistoryKey
	}
	return &configmap.Store{Client: o.client, Live: o.client, Namespace: o.namespace, Name: name, Key: key}
}

// read returns a record, "" when there is none.
func (o *office) read(t *testing.T, name string) string {
	t.Helper()
	text, _, err := o.store(name).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rewrite changes fields of the stored ledger, and returns it. A nil value removes its field.
func (o *office) rewrite(t *testing.T, changes map[string]any) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(o.read(t, ledger.Name)), &fields); err != nil {
		t.Fatal(err)
	}
	maps.Copy(fields, changes)
	maps.DeleteFunc(fields, func(_ string, value any) bool { return value == nil })
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.store(ledger.Name).Write(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLedgerOfANewerVersion: after a roll-back the ledger of the newer version is left
// alone, and in doubt, until the user says otherwise: in the next month as well. A version
// that only adds fields is read.
func TestLedgerOfANewerVersion(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for name, tc := range map[string]struct {
		start time.Time
		// later is when the doubt is accepted, after the start. hours is what the month has
		// cost then.
		later time.Duration
		hours float64
	}{
		"accepted in the month":       {start: middle, later: 10 * time.Minute, hours: 1 + 10./60},
		"accepted in the next month":  {start: midnight, later: 20 * time.Minute, hours: 10. / 60},
		"accepted after a month more": {start: midnight, later: 30*24*time.Hour + 20*time.Minute, hours: 10. / 60},
	} {
		o := newOffice(t, c, "newer-"+strings.ReplaceAll(name, " ", "-"), tc.start)
		o.want(t, o.keeper(), name+": before", 1, "")
		o.rewrite(t, map[string]any{"added": "by a newer version"})
		o.clock.Step(time.Minute)
		o.want(t, o.keeper(), name+": a field more", 1+1./60, "")
		theirs := o.rewrite(t, map[string]any{"version": spend.LedgerVersion + 1})
		k := o.keeper()
		for range 3 {
			o.clock.Step(2 * time.Minute)
			o.count(t, k)
		}
		o.want(t, k, name+": a round later", 1+7./60, "newer version")
		o.clock.Step(-5 * time.Minute)
		o.want(t, k, name+": the clock is put back", 1+2./60, "newer version")
		o.clock.SetTime(tc.start.Add(tc.later))
		o.want(t, k, name+": later", tc.hours, "newer version")
		o.want(t, o.keeper(), name+": later, another leader", tc.hours, "newer version")
		_, doubt := o.count(t, k)
		if got := metric(t, k, "spokeshave_spend_in_doubt"); got != 1 {
			t.Errorf("%s: the metric of the doubt is %v, want 1", name, got)
		}
		if o.read(t, ledger.Name) != theirs {
			t.Errorf("%s: the ledger of the newer version was overwritten", name)
		}
		o.accept(t, doubt)
		o.clock.Step(time.Minute)
		o.want(t, k, name+": accepted", tc.hours+1./60, "")
		o.want(t, o.keeper(), name+": accepted, for others too", tc.hours+1./60, "")
	}
}

// TestLedgerOfANewerVersionDeleted: once the ledger of a newer version is gone, nothing is overwritten: the
// leader's own one is stored, and its doubt can be accepted, or ends with the month.
func TestLedgerOfANewerVersionDeleted(t *testing.T) {
	o := newOffice(t, apiserver.Start(t).Client(t), "newer-deleted", midnight)
	o.want(t, o.keeper(), "before", 1, "")
	o.rewrite(t, map[string]any{"version": spend.LedgerVersion + 1})
	k := o.keeper()
	o.clock.Step(time.Minute)
	o.want(t, k, "rolled back", 1+1./60, "newer version")
	o.delete(t, ledger.Name)
	o.clock.Step(time.Minute)
	o.want(t, k, "deleted", 1+2./60, "newer version")
	o.want(t, o.keeper(), "another leader", 1+2./60, "newer version")
	if o.read(t, ledger.Name) == "" {
		t.Error("nothing is stored that the doubt could be accepted on")
	}
	o.clock.SetTime(midnight.Add(15 * time.Minute))
	o.want(t, k, "the month of the doubt is over", 5./60, "")
}

// TestHistoryOfANewerVersion: the history of a month that a newer version wrote is left alone. The
// days of that month wait, as a metric says, and those of the next month are written.
func TestHistoryOfANewerVersion(t *testing.T) {
	o := newOffice(t, apiserver.Start(t).Client(t), "newer-history", midnight)
	march, april := spend.HistoryName(midnight), spend.HistoryName(midnight.AddDate(0, 0, 1))
	theirs := `{"version":2}`
	if err := o.store(march).Write(t.Context(), []byte(theirs)); err != nil {
		t.Fatal(err)
	}
	k := o.keeper()
	o.want(t, k, "before", 1, "")
	for _, hours := range []float64{1, 25} {
		o.clock.SetTime(midnight.Add(10*time.Minute + time.Duration(hours)*time.Hour))
		o.want(t, k, "the next month", hours, "")
		if got := metric(t, k, "spokeshave_spend_days_waiting"); got != 1 || o.read(t, march) != theirs {
			t.Errorf("after %v hours %v days wait, want the last one of March, and its history as it was", hours, got)
		}
	}
	if o.read(t, april) == "" {
		t.Error("the first day of April is not in the history")
	}
}
