package accounts

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/apiserver"
)

// midnight is ten minutes before the turn of a month. The node of a test has cost one hour by then.
var midnight = time.Date(2026, 3, 31, 23, 50, 0, 0, time.UTC)

// march is what the node costs from its launch to the turn of the month, in hours.
const march = 1 + 10./60

// at sets the clock to minutes after midnight.
func (o *office) at(minutes int) {
	o.clock.SetTime(midnight.Add(time.Duration(minutes) * time.Minute))
}

// wantMarch fails the test when the ledger does not end March with the hours, or, for 0 hours, has March at all.
func (o *office) wantMarch(t *testing.T, k *ledger.Tracker, what string, hours float64) {
	t.Helper()
	got := 0.
	if past := k.Latest().Past; len(past) > 0 {
		got = float64(past[len(past)-1].Micro) / rate
	}
	if got < hours-0.001 || got > hours+0.001 {
		t.Errorf("%s: March has cost %.3f hours, want %.3f", what, got, hours)
	}
}

// annotate has somebody else change the ledger's ConfigMap, so that the leader's next write is a conflict.
func (o *office) annotate(t *testing.T) {
	t.Helper()
	cm := &corev1.ConfigMap{}
	if err := o.client.Get(t.Context(), client.ObjectKeyFromObject(o.object(ledger.Name)), cm); err != nil {
		t.Fatal(err)
	}
	metav1.SetMetaDataAnnotation(&cm.ObjectMeta, "example.com/by", "somebody else")
	if err := o.client.Update(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
}

// TestTurnOfAMonth: something happens five minutes before the month ends, and the next that is
// counted is five minutes after it. April has cost five minutes then, whatever it was, and
// March is complete when the ledger or an earlier one is left.
func TestTurnOfAMonth(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for name, tc := range map[string]struct {
		reason string
		// event happens at five to midnight, with the leader that has counted so far. It returns
		// the one that counts after midnight.
		event func(t *testing.T, o *office, leader *ledger.Tracker) *ledger.Tracker
		march float64
		doubt string
	}{
		"nothing": {
			reason: "the leader goes on",
			event:  func(_ *testing.T, _ *office, leader *ledger.Tracker) *ledger.Tracker { return leader },
			march:  march,
		},
		"restart": {
			reason: "the stored ledger knows what ran",
			event:  func(_ *testing.T, o *office, _ *ledger.Tracker) *ledger.Tracker { return o.keeper() },
			march:  march,
		},
		"conflict": {
			reason: "only an annotation has changed, so that the leader's own ledger counts",
			event: func(t *testing.T, o *office, leader *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.annotate(t)
				return leader
			},
			march: march,
		},
		"deleted": {
			reason: "the leader has the ledger in memory",
			event: func(t *testing.T, o *office, leader *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.delete(t, ledger.Name)
				return leader
			},
			march: march,
		},
		"deleted, and a restart": {
			reason: "the earlier ledger goes on",
			event: func(t *testing.T, o *office, _ *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.delete(t, ledger.Name)
				return o.keeper()
			},
			march: march,
		},
		"deleted with the earlier one, and a restart": {
			reason: "the loss is found in April, so that April is in doubt, and March is not known",
			event: func(t *testing.T, o *office, _ *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.delete(t, ledger.Name)
				o.delete(t, ledger.PreviousName)
				return o.keeper()
			},
			doubt: "the ledger is missing",
		},
		"deleted with the earlier one, and counted by another": {
			reason: "the loss is found in March, so that the doubt ends with March",
			event: func(t *testing.T, o *office, _ *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.delete(t, ledger.Name)
				o.delete(t, ledger.PreviousName)
				next := o.keeper()
				o.want(t, next, "before the turn", 1+5./60, "the ledger is missing")
				return next
			},
			march: march,
		},
		"upgrade from a version without days": {
			reason: "what an earlier version does not write is begun anew, and the sums stay",
			event: func(t *testing.T, o *office, _ *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.rewrite(t, map[string]any{"days": nil, "saved": nil, "savedKeys": nil})
				return o.keeper()
			},
			march: march,
		},
		"upgrade from a format that is no longer read": {
			reason: "the earlier ledger goes on",
			event: func(t *testing.T, o *office, _ *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.rewrite(t, map[string]any{"version": spend.LedgerVersion - 1})
				return o.keeper()
			},
			march: march,
		},
		"roll-back from a version with a field more": {
			reason: "what is not known is ignored",
			event: func(t *testing.T, o *office, _ *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.rewrite(t, map[string]any{"added": "by a newer version"})
				return o.keeper()
			},
			march: march,
		},
		"roll-back from a newer format, found in March": {
			reason: "the newer version's ledger is still there in April",
			event: func(t *testing.T, o *office, _ *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.rewrite(t, map[string]any{"version": spend.LedgerVersion + 1})
				next := o.keeper()
				o.want(t, next, "before the turn", 1+5./60, "newer version")
				return next
			},
			march: march, doubt: "newer version",
		},
		"roll-back from a newer format, found in April": {
			reason: "March is in the ledger that is not read",
			event: func(t *testing.T, o *office, _ *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.rewrite(t, map[string]any{"version": spend.LedgerVersion + 1})
				return o.keeper()
			},
			doubt: "newer version",
		},
		"clock ahead by an hour": {
			reason: "March's last ledger was kept when the clock ended the month too early",
			event: func(t *testing.T, o *office, leader *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.at(5 + 60)
				o.want(t, leader, "ahead", 55./60, "")
				return leader
			},
			march: march,
		},
		"clock ahead by 40 days, and a restart": {
			reason: "March's last ledger was kept when the clock ended the month too early",
			event: func(t *testing.T, o *office, leader *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.at(5 + 40*24*60)
				o.count(t, leader)
				return o.keeper()
			},
			march: march,
		},
		"clock behind by an hour": {
			reason: "what was counted stays, and the hour is counted again",
			event: func(t *testing.T, o *office, leader *ledger.Tracker) *ledger.Tracker {
				t.Helper()
				o.at(5 - 60)
				o.want(t, leader, "behind", 1+4./60, "")
				return leader
			},
			march: march + 59./60,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, c, "turn-"+strings.NewReplacer(",", "", " ", "-").Replace(strings.ToLower(name)), midnight)
			leader := o.keeper()
			o.want(t, leader, "before", 1, "")
			o.at(4)
			o.want(t, leader, "four minutes later", 1+4./60, "")
			o.at(5)
			next := tc.event(t, o, leader)
			o.at(15)
			o.want(t, next, tc.reason, 5./60, tc.doubt)
			o.wantMarch(t, next, tc.reason, tc.march)
			o.at(16)
			o.want(t, o.keeper(), tc.reason+", for the next leader too", 6./60, tc.doubt)
		})
	}
}

// TestPausedFormerLeader: a leader that was paused overwrites nothing of what its successor has
// written since, whether or not the month has ended meanwhile, and continues from that.
func TestPausedFormerLeader(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for name, tc := range map[string]struct {
		start time.Time
		// before is what the month of the end has cost at the start, in hours of the node: below 0
		// when it begins later.
		before float64
		wrote  []string
	}{
		"in a month":    {start: middle, before: 1, wrote: []string{ledger.Name, ledger.PreviousName}},
		"over its turn": {start: midnight, before: -10. / 60, wrote: []string{ledger.Name, ledger.PreviousName, spend.HistoryName(midnight)}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, c, "paused-"+strings.ReplaceAll(name, " ", "-"), tc.start)
			paused := o.keeper()
			o.want(t, paused, "before", 1, "")
			next := o.keeper()
			o.clock.Step(5 * time.Minute)
			o.want(t, next, "the successor", 1+5./60, "")
			o.clock.Step(8 * time.Minute)
			o.want(t, next, "the successor, later", tc.before+13./60, "")
			theirs := map[string]string{}
			for _, each := range tc.wrote {
				theirs[each] = o.read(t, each)
			}
			o.clock.Step(time.Minute)
			o.count(t, paused)
			for each, text := range theirs {
				if text == "" || o.read(t, each) != text {
					t.Errorf("the paused leader overwrote %s, or its successor did not write it", each)
				}
			}
			o.clock.Step(time.Minute)
			o.want(t, paused, "it has read what the successor wrote", tc.before+15./60, "")
			if o.read(t, ledger.PreviousName) != theirs[ledger.PreviousName] {
				t.Error("the paused leader replaced the earlier ledger by one from before its pause")
			}
		})
	}
}

// dated is an API server whose clock shows what now returns.
type dated struct {
	client.Client
	now func() time.Time
}

func (d dated) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	o.SetManagedFields(nil)
	err := d.Client.Create(ctx, o, opts...)
	d.date(o)
	return err //nolint:wrapcheck // as the client's own
}

func (d dated) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	o.SetManagedFields(nil)
	err := d.Client.Update(ctx, o, opts...)
	d.date(o)
	return err //nolint:wrapcheck // as the client's own
}

func (d dated) date(o client.Object) {
	fields := o.GetManagedFields()
	for i := range fields {
		fields[i].Time = &metav1.Time{Time: d.now()}
	}
	o.SetManagedFields(fields)
}

// TestClockStepsAtTheTurnOfAMonth: the month turns while the controller's clock is wrong. It ends when the clock
// is right again, with what it has cost.
func TestClockStepsAtTheTurnOfAMonth(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for i, step := range []time.Duration{40 * 24 * time.Hour, time.Hour, -40 * 24 * time.Hour, -time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			right := midnight
			o := newOffice(t, dated{Client: c, now: func() time.Time { return right }}, fmt.Sprintf("turn-step-%d", i), midnight)
			o.tolerance = 2 * time.Minute
			leader := o.keeper()
			o.want(t, leader, "before", 1, "")
			o.at(5)
			right = o.clock.Now()
			o.want(t, leader, "five minutes later", 1+5./60, "")
			for _, minutes := range []int{6, 14} {
				o.at(minutes)
				right = o.clock.Now()
				o.clock.Step(step)
				for _, k := range []*ledger.Tracker{leader, o.keeper()} {
					o.want(t, k, fmt.Sprintf("wrong, %d minutes after", minutes), 1+5./60, "the clock of the controller's machine differs by")
				}
			}
			o.at(15)
			right = o.clock.Now()
			for _, k := range []*ledger.Tracker{leader, o.keeper()} {
				o.want(t, k, "right again", 5./60, "")
				o.wantMarch(t, k, "right again", march)
			}
		})
	}
}
