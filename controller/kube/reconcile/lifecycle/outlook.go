package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/index"
)

// outlook remembers of decisions whether some of their pods wait still, since all
// their nodes ask it at the same time.
type outlook struct {
	mu   sync.Mutex
	seen map[string]sighting
}

type sighting struct {
	at time.Time
	// waiting is how many planned pods wait still, barred those among them that
	// reservations themselves may hold back.
	waiting, barred int
	// last is when a node was initialized last; at while some are not.
	last time.Time
	// bound is when fewer pods waited than at the look before.
	bound time.Time
}

// after says what the look shows that came after another one.
func (s sighting) after(before sighting) sighting {
	s.bound = before.bound
	if s.waiting < before.waiting {
		s.bound = s.at
	}
	return s
}

// moved is when last something happened that others may have waited for.
func (s sighting) moved() time.Time {
	if s.bound.After(s.last) {
		return s.bound
	}
	return s.last
}

// lasts is for how long reservations go on after something has moved.
func (s sighting) lasts() time.Duration {
	if s.waiting > 0 && s.barred == s.waiting {
		return reservationBarred
	}
	return reservation
}

// barred says whether the pod spreads over domains of which it does not count nodes
// that are reserved for others: to minDomains there are then too few.
func barred(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.DoNotSchedule && c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	})
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
	if before, ok := r.outlook.seen[decision]; ok {
		out = out.after(before)
	}
	for id, last := range r.outlook.seen {
		if now.Sub(last.at) > reservationMost {
			delete(r.outlook.seen, id)
		}
	}
	r.favours.forget(now)
	if r.outlook.seen == nil {
		r.outlook.seen = map[string]sighting{}
	}
	r.outlook.seen[decision] = out
	return out, nil
}

func (r *Reconciler) sight(ctx context.Context, decision string, now time.Time) (sighting, error) {
	out := sighting{at: now}
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims, client.MatchingFields{index.Decision: decision}); err != nil {
		return out, fmt.Errorf("list claims of decision %s: %w", decision, err)
	}
	for i := range claims.Items {
		c := &claims.Items[i]
		planned, err := plannedPods(c)
		if err != nil || len(planned) == 0 || !c.DeletionTimestamp.IsZero() {
			continue // its own reconciliation says what cannot be read
		}
		if ready := meta.FindStatusCondition(c.Status.Conditions, karpv1.ConditionInitialized); ready == nil || ready.Status != metav1.ConditionTrue {
			out.last = now
		} else if ready.LastTransitionTime.After(out.last) {
			out.last = ready.LastTransitionTime.Time
		}
		if err := r.count(ctx, planned, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// count adds the pods that wait still.
func (r *Reconciler) count(ctx context.Context, planned []string, into *sighting) error {
	for _, key := range planned {
		pod, err := r.unbound(ctx, key)
		if err != nil {
			return err
		}
		if pod != nil {
			into.waiting++
			if barred(pod) {
				into.barred++
			}
		}
	}
	return nil
}
