package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/reconcile/configmap"
)

const (
	// stepTolerance is how far a ledger may be ahead of the clock before that counts as
	// a step of the clock.
	stepTolerance = 2 * time.Minute
	// jump is how far a snapshot may be ahead of the ledger before the clock is compared
	// with the API server's first.
	jump = 10 * time.Minute
	// lookEvery is how often the ConfigMap is read for an acceptance, and a wrong clock
	// compared again.
	lookEvery = 5 * time.Second
	// annotationClock has the time at which a replica last compared its clock.
	annotationClock = karpv1.Domain + "/clock"
)

// clockState is what the last comparison with the API server's clock has found.
type clockState struct {
	// ahead is how far this machine's clock is ahead of the API server's; 0 when they
	// agree.
	ahead time.Duration
	// at is when they were last compared; zero for never.
	at time.Time
}

func (c *clockState) wrong() bool { return c.ahead != 0 }

// compare records the difference of two clocks. A zero server time says nothing.
func (c *clockState) compare(ours, server time.Time, tolerance time.Duration) {
	if server.IsZero() || tolerance == 0 {
		return
	}
	c.at, c.ahead = ours, 0
	if ahead := ours.Sub(server); ahead.Abs() > tolerance {
		c.ahead = ahead
	}
}

// serverTime returns the API server's time at the last write of an object, which its
// managed fields have; zero when they do not.
func serverTime(cm *corev1.ConfigMap) time.Time {
	var latest time.Time
	for i := range cm.ManagedFields {
		if at := cm.ManagedFields[i].Time; at != nil && at.After(latest) {
			latest = at.Time
		}
	}
	return latest
}

// checkClock compares this machine's clock with the API server's before time is added to
// the ledger, the first time and whenever the snapshot is far from the ledger's end: a
// clock that is a month ahead would end the month.
// The error says that they could not be compared.
func (k *Tracker) checkClock(ctx context.Context, l *spend.Ledger, now time.Time) error {
	gap := now.Sub(l.Through)
	if k.ClockTolerance == 0 || !k.clock.at.IsZero() && !k.clock.wrong() && gap >= -stepTolerance && gap <= jump {
		return nil
	}
	ours := k.Clock.Now()
	if k.refused != "" && ours.Sub(k.tried).Abs() < refusedInterval {
		return nil
	}
	if k.clock.wrong() && ours.Sub(k.clock.at).Abs() < lookEvery {
		return nil
	}
	var text []byte
	if k.stored == nil { // the ConfigMap is created with the ledger as it is
		var err error
		if text, err = encode(l); err != nil {
			return fmt.Errorf("compare the clock with the API server's: %w", err)
		}
	}
	if err := k.replace(ctx, text, map[string]string{annotationClock: ours.UTC().Format(time.RFC3339Nano)}); err != nil {
		return fmt.Errorf("compare the clock with the API server's: %w", err)
	}
	if k.clock.wrong() {
		logr.FromContextOrDiscard(ctx).Info("this machine's clock is wrong", "ahead", k.clock.ahead.String())
	}
	return nil
}

// doubt says why the ledger is not certain and what to do about it, "" when it is
// certain.
func (k *Tracker) doubt(l *spend.Ledger) string {
	switch {
	case k.clock.wrong():
		return fmt.Sprintf("nothing is launched under a monthly cap, because the clock of the controller's machine differs by %s from the API server's; set it right",
			k.clock.ahead.Abs().Round(time.Second))
	case k.refused != "":
		return fmt.Sprintf("nothing is launched under a monthly cap, because the API server refuses ConfigMap %s/%s, without which a restart would lose what the month has cost: %s; %s",
			k.Namespace, Name, k.refused, configmap.WayOut)
	case l.Doubt != nil:
		return fmt.Sprintf("nothing is launched under a monthly cap, because it is not certain what the month has cost: %s; to go on with an estimate of %.2f $: "+
			"kubectl -n %s annotate configmap %s --overwrite %s=%s",
			l.Doubt.Reason, total(l), k.Namespace, Name, karpv1.AnnotationAcceptLedger, l.Doubt.Since.Format(time.RFC3339))
	}
	return ""
}

// overtaken finds whether a ledger that was read is older than what has happened since: the month is then
// in doubt. An API server that was restored from a backup has an old ledger and not the nodes that
// were launched after it.
func (k *Tracker) overtaken(ctx context.Context, l *spend.Ledger, s *model.Snapshot) error {
	_, restored, err := breaker.Marks(ctx, k.Live, k.Namespace)
	if err != nil {
		return fmt.Errorf("compare the ledger with what breakers remember: %w", err)
	}
	missed := restored.After(l.Restored)
	if !l.KnowsRestored { // one of an earlier version does not know what was found before it ends either
		missed = restored.Truncate(time.Second).After(l.Through)
	}
	if l.KnowsRestored = true; restored.After(l.Restored) {
		l.Restored = restored
	}
	if !missed {
		k.unstored = k.unwritten(l, s)
		return nil
	}
	k.unstored = k.restored(s, restored, "its ledger ends at "+l.Through.Format(time.RFC3339))
	return nil
}

// restored returns the doubt about a ledger that does not take a restore of the API server into account.
func (k *Tracker) restored(s *model.Snapshot, at time.Time, why string) *spend.Doubt {
	out := &spend.Doubt{
		Since:  s.Time.UTC().Truncate(time.Second),
		Reason: fmt.Sprintf("the API server was restored from a backup before %s, and %s", at.Format(time.RFC3339), why),
	}
	k.found("%s; it goes on from that", out.Reason)
	return out
}

// rewound takes into account that the API server went back in time since the ledger was read, or before and it is
// found only now. The amounts are right when this process read the ledger before that, which it may know a little later
// than what another replica has found.
func (k *Tracker) rewound(l *spend.Ledger, s *model.Snapshot) {
	if k.Restored == nil {
		return
	}
	at, good := k.Restored()
	switch right := !k.read.After(good); {
	case at.After(l.Restored):
		l.Restored = at
		k.urgent.Store(true)
		if !right && l.Doubt == nil {
			l.Doubt = k.restored(s, at, "this process has read the ledger after that, at "+k.read.UTC().Format(time.RFC3339))
			k.raised = l.Doubt
		}
	case right && k.raised != nil && l.Doubt == k.raised && at.Equal(l.Restored):
		l.Doubt, k.raised = nil, nil
		k.urgent.Store(true)
	}
}

// unwritten returns a doubt about a ledger that was read: nodes were launched so long after its end that it
// was not written meanwhile, as while the API server refuses it. Of those that are gone, nobody knows. It
// returns nil when there are none.
func (k *Tracker) unwritten(l *spend.Ledger, s *model.Snapshot) *spend.Doubt {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Bought == nil || !n.LaunchedAt.After(l.Through.Add(jump)) {
			continue
		}
		out := &spend.Doubt{
			Since:  s.Time.UTC().Truncate(time.Second),
			Reason: fmt.Sprintf("nodes were launched after %s, while the ledger was not stored", l.Through.Format(time.RFC3339)),
		}
		k.found("%s; it goes on from what was stored then", out.Reason)
		return out
	}
	return nil
}

// accept ends the ledger's doubt when the annotation on its ConfigMap says so.
func (k *Tracker) accept(ctx context.Context, l *spend.Ledger) {
	if l.Doubt == nil || k.Clock.Since(k.looked) < lookEvery {
		return
	}
	k.looked = k.Clock.Now()
	cm := &corev1.ConfigMap{}
	err := k.Live.Get(ctx, types.NamespacedName{Namespace: k.Namespace, Name: Name}, cm)
	if k.newer != nil && apierrors.IsNotFound(err) {
		// The newer version's ledger was deleted: this one is stored in its place, and its
		// doubt ends with the month, as others do.
		k.stored, k.newer, k.saved = nil, nil, time.Time{}
		return
	}
	since := l.Doubt.Since.Format(time.RFC3339)
	if err != nil || cm.Annotations[karpv1.AnnotationAcceptLedger] != since {
		return
	}
	k.stored, k.newer, k.saved = cm, nil, time.Time{}
	l.Doubt = nil
	logr.FromContextOrDiscard(ctx).Info("the estimate of what the month has cost is accepted", "usd", total(l))
	k.tell(corev1.EventTypeWarning, karpv1.EventLedgerAccepted, fmt.Sprintf("monthly caps hold again, from an estimate of %.2f $ for the month so far", total(l)))
}
