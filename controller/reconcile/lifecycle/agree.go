package lifecycle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/reconcile/condition"
)

// The scheduler and the plan agree best when the nodes of a plan become free
// together, with every nomination known. Otherwise it tries all pods on each
// node as it comes, and forgets the nomination of a pod whose own node is not
// free yet; and since pods and nodes reach it by different watches, a node seen
// free before its nominations takes any pod.
const (
	// A node that is ready waits for the others of its plan so long, and so
	// much longer for each of them, and never longer than the most.
	assembly     = 2 * time.Second
	assemblyEach = 100 * time.Millisecond
	assemblyMost = 10 * time.Second
	// settle is how long the scheduler is given to learn of the nominations.
	settle = 150 * time.Millisecond
	// agreePoll is how often to look whether the others are as far.
	agreePoll = 50 * time.Millisecond
)

// agree takes the plan of the claim's node to the scheduler. It returns when to
// call again; 0 when the node may take pods.
func (r *Reconciler) agree(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) (time.Duration, error) {
	planned, err := plannedPods(claim)
	if err != nil || len(planned) == 0 {
		return 0, err
	}
	others, err := r.companions(ctx, claim)
	if err != nil {
		return 0, err
	}
	late := r.Clock.Since(readySince(node)) > min(assemblyMost, assembly+time.Duration(len(others))*assemblyEach)
	at, told := r.toldAt(claim.UID)
	if !told {
		if !late {
			if ready, err := r.ready(ctx, others); err != nil || !ready {
				return agreePoll, err
			}
		}
		if err := r.nominate(ctx, planned, node); err != nil {
			return 0, err
		}
		r.nominated.Store(claim.UID, r.Clock.Now())
		return agreePoll, nil
	}
	for i := range others {
		other, toldToo := r.toldAt(others[i].UID)
		if !toldToo && !late {
			return agreePoll, nil
		}
		if other.After(at) {
			at = other
		}
	}
	if left := settle - r.Clock.Since(at); left > 0 {
		return left, nil
	}
	return 0, nil
}

func (r *Reconciler) toldAt(uid types.UID) (time.Time, bool) {
	v, _ := r.nominated.Load(uid)
	at, ok := v.(time.Time)
	return at, ok
}

// companions are the claims of the same decision that have not registered yet.
func (r *Reconciler) companions(ctx context.Context, claim *karpv1.NodeClaim) ([]karpv1.NodeClaim, error) {
	decision := claim.Annotations[karpv1.AnnotationDecision]
	if decision == "" {
		return nil, nil
	}
	var plan karpv1.NodeClaimList
	if err := r.Client.List(ctx, &plan, client.MatchingFields{IndexDecision: decision}); err != nil {
		return nil, fmt.Errorf("list claims of decision %s: %w", decision, err)
	}
	out := plan.Items[:0]
	for i := range plan.Items {
		c := &plan.Items[i]
		if c.Name != claim.Name && c.DeletionTimestamp.IsZero() && !condition.IsTrue(c.Status.Conditions, karpv1.ConditionRegistered) {
			out = append(out, *c)
		}
	}
	return out, nil
}

// ready says whether every claim has a node that could take pods.
func (r *Reconciler) ready(ctx context.Context, claims []karpv1.NodeClaim) (bool, error) {
	for i := range claims {
		node, err := r.nodeOf(ctx, &claims[i])
		if err != nil {
			return false, err
		}
		if node == nil || !takesPods(node) {
			return false, nil
		}
	}
	return true, nil
}

func readySince(node *corev1.Node) time.Time {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.LastTransitionTime.Time
		}
	}
	return node.CreationTimestamp.Time
}
