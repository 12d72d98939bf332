package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
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
		"stored":     {stored: true, hours: 13.01},
		"not stored": {hours: 7.01, doubt: "the API server was restored from a backup before"}, // nobody knows of the other node
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, c, map[bool]string{true: "stored", false: "lost"}[tc.stored], middle)
			k := o.keeper()
			o.want(t, k, "before the backup", 1, "")
			backup := o.read(t, ledger.Name)
			o.clock.Step(3 * time.Hour)
			o.beside = []model.Node{{Name: "b", Claim: "b", InstanceType: "m5.large", CapacityType: model.OnDemand, Price: rate, LaunchedAt: middle}}
			o.want(t, k, "three hours later, with another node that has run since", 7, "")
			o.beside = nil
			o.clock.Step(3 * time.Hour)
			o.want(t, k, "six hours later, when it is gone", 13, "")
			_, cm, err := o.store(ledger.Name).Read(t.Context())
			if err == nil {
				_, err = o.store(ledger.Name).Replace(t.Context(), cm, []byte(backup), nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			o.clock.Step(30 * time.Second)
			found := o.clock.Now()
			k.Restored = func() (time.Time, time.Time) { return found, found.Add(-10 * time.Second) }
			mark := o.object(breaker.Name)
			mark.Data = map[string]string{"state": fmt.Sprintf(`{"seen":%q,"restored":%q}`, found.Format(time.RFC3339Nano), found.Format(time.RFC3339Nano))}
			if err := c.Create(t.Context(), mark); err != nil {
				t.Fatal(err)
			}
			if k.Recorded(found, time.Time{}) {
				t.Error("it does not end after that, and says so")
			}
			if tc.stored {
				o.clock.Step(time.Second) // it is not due by the time
				o.want(t, k, "asked to be stored", 13+31./3600, "")
				if !k.Recorded(found, time.Time{}) {
					t.Error("it ends after that, and does not say so")
				}
			}
			next := o.keeper()
			o.clock.SetTime(middle.Add(6*time.Hour + 36*time.Second))
			o.want(t, next, "after the restart", tc.hours, tc.doubt)
		})
	}
}

// TestRestoredFoundLater: that the API server went back in time is found after the ledger was read. The month
// is in doubt unless this process had read it before; what is stored then has taken it into account, whatever clock
// the finder had, so that a restart asks nothing again.
func TestRestoredFoundLater(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	const doubt = "the API server was restored from a backup before"
	for name, tc := range map[string]struct {
		reason string
		good   time.Duration // since the ledger was read; 0 for never
		found  time.Duration
		doubt  string
	}{
		"by another process": {"what this one has read is what was restored", 0, time.Minute, doubt},
		"read after it":      {"the API server was last seen as ever before the ledger was read", -time.Second, time.Minute, doubt},
		"read before it":     {"this process remembers what was lost", 30 * time.Second, time.Minute, ""},
		"by a clock ahead":   {"this process remembers what was lost", 30 * time.Second, time.Hour, ""},
		"ahead, in doubt":    {"clocks are not compared", 0, time.Hour, doubt},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, c, strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), ",", ""), middle)
			k := o.keeper()
			var found, good time.Time
			k.Restored = func() (time.Time, time.Time) { return found, good }
			o.want(t, k, "before it is found", 1, "")
			if tc.good != 0 {
				good = middle.Add(tc.good)
			}
			o.clock.Step(time.Minute)
			found = middle.Add(tc.found)
			record := o.object(breaker.Name)
			record.Data = map[string]string{"state": fmt.Sprintf(`{"seen":%q,"restored":%q}`, middle.Format(time.RFC3339Nano), found.Format(time.RFC3339Nano))}
			if err := c.Create(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			o.want(t, k, tc.reason, 1+60./3600, tc.doubt)
			if k.Recorded(middle, found.Add(1)) || !k.Recorded(middle, found) {
				t.Error("what is stored takes something else into account than what was found")
			}
			o.clock.Step(time.Second)
			o.want(t, o.keeper(), "after a restart", 1+61./3600, tc.doubt)
			if tc.doubt == "" {
				return
			}
			cm := o.object(ledger.Name)
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(cm), cm); err != nil {
				t.Fatal(err)
			}
			metav1.SetMetaDataAnnotation(&cm.ObjectMeta, karpv1.AnnotationAcceptLedger, middle.Add(time.Minute).UTC().Format(time.RFC3339))
			if err := c.Update(t.Context(), cm); err != nil {
				t.Fatal(err)
			}
			o.clock.Step(time.Minute)
			next := o.keeper()
			next.Restored = func() (time.Time, time.Time) { return found, time.Time{} }
			o.want(t, next, "accepted, and not doubted again", 1+121./3600, "")
			o.clock.Step(time.Minute)
			o.want(t, o.keeper(), "accepted, after a restart", 1+181./3600, "")
		})
	}
}

// TestRestoredBeforeLedgersKnew: a ledger of an earlier version names no mark. It has taken into account what was found
// before it ends.
func TestRestoredBeforeLedgersKnew(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for name, tc := range map[string]struct {
		found time.Duration // since its end
		doubt string
	}{
		"before": {-time.Hour, ""},
		"after":  {time.Minute, "the API server was restored from a backup before"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, c, "knew-"+name, middle)
			o.want(t, o.keeper(), "an earlier version", 1, "")
			before := strings.ReplaceAll(o.read(t, ledger.Name), `"knowsRestored":true`, `"unknown":true`)
			_, cm, err := o.store(ledger.Name).Read(t.Context())
			if err == nil {
				_, err = o.store(ledger.Name).Replace(t.Context(), cm, []byte(before), nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			found := middle.Add(tc.found)
			record := o.object(breaker.Name)
			record.Data = map[string]string{"state": fmt.Sprintf(`{"seen":%q,"restored":%q}`, found.Format(time.RFC3339Nano), found.Format(time.RFC3339Nano))}
			if err := c.Create(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			o.clock.Step(2 * time.Minute)
			next := o.keeper()
			next.Restored = func() (time.Time, time.Time) { return found, time.Time{} }
			o.want(t, next, "after the upgrade", 1+120./3600, tc.doubt)
		})
	}
}

// TestRestoredDoubtWithdrawn: another replica has found it first, and this one finds a little later that it had read the
// ledger before. The doubt ends by itself; one that somebody else has raised does not.
func TestRestoredDoubtWithdrawn(t *testing.T) {
	o := newOffice(t, apiserver.Start(t).Client(t), "withdrawn", middle)
	k := o.keeper()
	var found, good time.Time
	k.Restored = func() (time.Time, time.Time) { return found, good }
	o.want(t, k, "before it is found", 1, "")
	o.clock.Step(time.Minute)
	found = middle.Add(time.Minute)
	o.want(t, k, "another replica has found it", 1+60./3600, "this process has read the ledger after that")
	o.clock.Step(5 * time.Second)
	good = middle.Add(30 * time.Second)
	o.want(t, k, "this one had seen the API server since", 1+65./3600, "")
	o.clock.Step(time.Second)
	o.want(t, o.keeper(), "after a restart", 1+66./3600, "")
}

// TestRestoredWithoutLedger: a backup from before there was a ledger is restored, and nothing of it is left.
func TestRestoredWithoutLedger(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for name, tc := range map[string]struct {
		found time.Time
		doubt string
	}{
		"this month": {middle.Add(-time.Hour), "there is no ledger, and the API server was restored from a backup before"},
		"long ago":   {middle.AddDate(0, -2, 0), ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, c, "without-"+strings.ReplaceAll(name, " ", "-"), middle)
			record := o.object(breaker.Name)
			record.Data = map[string]string{"state": fmt.Sprintf(`{"restored":%q}`, tc.found.Format(time.RFC3339Nano))}
			if err := c.Create(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			o.want(t, o.keeper(), "the first ledger", 1, tc.doubt)
		})
	}
}

// forgetful is an API server that does not tell the marks on record.
type forgetful struct {
	client.Client

	fails bool
}

func (f *forgetful) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if f.fails && key.Name == breaker.Name {
		return apierrors.NewInternalError(errors.New("no answer"))
	}
	return f.Client.Get(ctx, key, o, opts...)
}

// TestLossIsToldOnce: a ledger that was lost is reported once, however often the marks of what happened
// to the API server cannot be read.
func TestLossIsToldOnce(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for name, previous := range map[string]bool{"begun-anew": false, "continued": true} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, c, "once-"+name, middle)
			o.want(t, o.keeper(), "at first", 1, "")
			o.delete(t, ledger.Name)
			if !previous {
				o.delete(t, ledger.PreviousName)
			}
			k, live := o.keeper(), &forgetful{Client: c, fails: true}
			k.Live = live
			for range 3 {
				o.clock.Step(time.Minute)
				s := &model.Snapshot{Time: o.clock.Now(), Nodes: []model.Node{{Name: "a", Claim: "a", Pool: -1, LaunchedAt: middle.Add(-time.Hour), Bought: &model.Bought{Price: rate}}}}
				if err := k.Count(t.Context(), s); err == nil {
					t.Fatal("it goes on without the marks")
				}
			}
			if len(o.events.Events) > 0 {
				t.Errorf("reported before it goes on: %s", <-o.events.Events)
			}
			live.fails = false
			for range 3 {
				o.clock.Step(time.Minute)
				o.count(t, k)
			}
			o.toldOnce(t)
		})
	}
}

// toldOnce checks that it was reported once that the ledger was lost.
func (o *office) toldOnce(t *testing.T) {
	t.Helper()
	told := 0
	for len(o.events.Events) > 0 {
		if strings.Contains(<-o.events.Events, karpv1.EventLedgerLost) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("reported %d times", told)
	}
}

// unheard is an API server that carries writes out while lost is set, and whose answers do not arrive.
type unheard struct {
	client.Client

	lost bool
}

func (u *unheard) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	err := u.Client.Create(ctx, o, opts...)
	if u.lost {
		return apierrors.NewInternalError(errors.New("the answer was lost"))
	}
	return err
}

// TestLossIsToldBeforeItIsHidden: a ledger that was lost is reported before another is written in its place, and
// once, since a process that reads that one does not know of it.
func TestLossIsToldBeforeItIsHidden(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	o := newOffice(t, c, "hidden", middle)
	o.want(t, o.keeper(), "at first", 1, "")
	o.delete(t, ledger.Name)
	k := o.keeper()
	k.Client, k.ClockTolerance = &unheard{Client: c, lost: true}, 24*365*10*time.Hour
	s := &model.Snapshot{Time: o.clock.Now(), Nodes: []model.Node{{Name: "a", Claim: "a", Pool: -1, LaunchedAt: middle.Add(-time.Hour), Bought: &model.Bought{Price: rate}}}}
	if err := k.Count(t.Context(), s); err == nil {
		t.Fatal("it goes on although the clocks are not compared")
	}
	o.clock.Step(time.Minute)
	o.count(t, o.keeper()) // another process
	o.toldOnce(t)
}
