package lifecycle

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/reconcile/condition"
)

// outlook remembers of decisions whether some of their pods wait still, since all
// their nodes ask it at the same time.
type outlook struct {
	mu   sync.Mutex
	seen map[string]sighting
}

type sighting struct {
	at time.Time
	// waiting says whether planned pods wait still.
	waiting bool
	// last is when a node registered last; at while some have not.
	last time.Time
}

// outstanding says whether pods that the decision planned on new nodes wait
// still. Its nodes open together: a pod that it found no place for may fit beside
// the first ones bound, and keep the others out by an anti-affinity or a spread.
func (r *Reconciler) outstanding(ctx context.Context, decision string) (sighting, error) {
	if decision == "" {
		return sighting{}, nil
	}
	r.outlook.mu.Lock()
	defer r.outlook.mu.Unlock()
	now := r.Clock.Now()
	if last, ok := r.outlook.seen[decision]; ok && now.Sub(last.at) < reservationPoll {
		return last, nil
	}
	out, err := r.sight(ctx, decision, now)
	if err != nil {
		return sighting{}, err
	}
	for id, last := range r.outlook.seen {
		if now.Sub(last.at) > reservationMost {
			delete(r.outlook.seen, id)
		}
	}
	r.refused.Range(func(pod, at any) bool {
		if at, ok := at.(time.Time); ok && now.Sub(at) > 2*reservationMost {
			r.refused.Delete(pod)
		}
		return true
	})
	if r.outlook.seen == nil {
		r.outlook.seen = map[string]sighting{}
	}
	r.outlook.seen[decision] = out
	return out, nil
}

func (r *Reconciler) sight(ctx context.Context, decision string, now time.Time) (sighting, error) {
	out := sighting{at: now}
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims, client.MatchingFields{IndexDecision: decision}); err != nil {
		return out, fmt.Errorf("list claims of decision %s: %w", decision, err)
	}
	for i := range claims.Items {
		c := &claims.Items[i]
		planned, err := plannedPods(c)
		if err != nil || len(planned) == 0 || !c.DeletionTimestamp.IsZero() {
			continue // its own reconciliation says what cannot be read
		}
		if !condition.IsTrue(c.Status.Conditions, karpv1.ConditionRegistered) {
			out.waiting, out.last = true, now
			return out, nil
		}
		if at := meta.FindStatusCondition(c.Status.Conditions, karpv1.ConditionRegistered).LastTransitionTime.Time; at.After(out.last) {
			out.last = at
		}
		for _, key := range planned {
			if out.waiting {
				break
			}
			pod, err := r.unbound(ctx, key)
			if err != nil {
				return out, err
			}
			out.waiting = pod != nil
		}
	}
	return out, nil
}
