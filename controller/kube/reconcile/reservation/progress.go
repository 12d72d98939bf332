package reservation

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

// decisionProgress caches, by decision, how far its planned pods have come: all nodes of
// a decision ask for it at about the same time. The zero value is ready.
type decisionProgress struct {
	mu   sync.Mutex
	seen map[string]progress
}

// progress is how far the pods that one decision planned on new nodes have come.
type progress struct {
	// at is when this was read from the watch cache.
	at time.Time
	// waiting is how many planned pods still wait. heldBack is how many of these may wait
	// because of reservations (see [ignoresReservedNodes]).
	waiting, heldBack int
	// initialized is when the last node of the decision was initialized; at, while one of
	// them is not.
	initialized time.Time
	// bound is when fewer pods waited than in the reading before; zero when that was never
	// seen.
	bound time.Time
}

// since returns p with what is known from the reading before it.
func (p progress) since(before progress) progress {
	p.bound = before.bound
	if p.waiting < before.waiting {
		p.bound = p.at
	}
	return p
}

// lastProgress is when a pod was bound or a node was initialized last. Pods that still
// wait may have waited for just that.
func (p progress) lastProgress() time.Time {
	if p.bound.After(p.initialized) {
		return p.bound
	}
	return p.initialized
}

// duration is how long reservations go on after the last progress.
func (p progress) duration() time.Duration {
	if p.waiting > 0 && p.heldBack == p.waiting {
		return durationSpread
	}
	return duration
}

// ignoresReservedNodes says whether a required topology spread of the pod leaves out
// nodes with taints that the pod does not tolerate. Reserved nodes then count as no
// domains, and there may be fewer domains than minDomains until they are open.
func ignoresReservedNodes(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.DoNotSchedule && c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	})
}

// decisionState returns the progress of the decision with the id, not older than
// [pollInterval]. All nodes of a decision open together: a pod that was planned nowhere
// may fit beside the first pods bound, and then keep planned pods off by an
// anti-affinity or a topology spread.
func (r *Reservations) decisionState(ctx context.Context, decision string) (progress, error) {
	if decision == "" {
		return progress{}, nil
	}
	r.progress.mu.Lock()
	defer r.progress.mu.Unlock()
	now := r.clock.Now()
	if last, ok := r.progress.seen[decision]; ok && now.Sub(last.at) < pollInterval {
		return last, nil
	}
	out, err := r.readProgress(ctx, decision, now)
	if err != nil {
		return progress{}, err
	}
	if before, ok := r.progress.seen[decision]; ok {
		out = out.since(before)
	}
	for id, last := range r.progress.seen {
		if now.Sub(last.at) > maxDuration {
			delete(r.progress.seen, id)
		}
	}
	r.writer.forget(now)
	if r.progress.seen == nil {
		r.progress.seen = map[string]progress{}
	}
	r.progress.seen[decision] = out
	return out, nil
}

// readProgress reads the progress of a decision from the watch cache.
func (r *Reservations) readProgress(ctx context.Context, decision string, now time.Time) (progress, error) {
	out := progress{at: now}
	var claims karpv1.NodeClaimList
	if err := r.client.List(ctx, &claims, client.MatchingFields{index.Decision: decision}); err != nil {
		return out, fmt.Errorf("list claims of decision %s: %w", decision, err)
	}
	for i := range claims.Items {
		c := &claims.Items[i]
		planned, err := plannedPods(c)
		announced := announcedPods(c)
		if err != nil || len(planned)+announced == 0 || !c.DeletionTimestamp.IsZero() {
			continue // its own reconciliation says what cannot be read
		}
		if ready := meta.FindStatusCondition(c.Status.Conditions, karpv1.ConditionInitialized); ready == nil || ready.Status != metav1.ConditionTrue {
			out.initialized = now
		} else if ready.LastTransitionTime.After(out.initialized) {
			out.initialized = ready.LastTransitionTime.Time
		}
		out.waiting += announced
		if err := r.count(ctx, planned, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// count adds those of the planned pods that still wait.
func (r *Reservations) count(ctx context.Context, planned []string, into *progress) error {
	for _, key := range planned {
		pod, err := r.unbound(ctx, key)
		if err != nil {
			return err
		}
		if pod != nil {
			into.waiting++
			if ignoresReservedNodes(pod) {
				into.heldBack++
			}
		}
	}
	return nil
}
