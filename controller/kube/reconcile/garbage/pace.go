package garbage

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/managed"
	"spokeshave.dev/controller/kube/reconcile/readiness"
)

// young is how long after its creation a claim keeps the collector from resting, and how
// long after its start the collector does not rest: what an earlier process left behind
// is found then.
const young = 5 * time.Minute

// pace decides when a pass is due. To list a thousand instances costs half a second of
// processor time, so that it is rarely done while nothing happens.
type pace struct {
	began time.Time
	// last is the last pass, zero when one is due at the next opportunity.
	last time.Time
}

// due reports whether a pass is due while nothing happens, with so long between two.
func (p *pace) due(now time.Time, rest time.Duration) bool {
	return now.Sub(p.began) < young || now.Sub(p.last) >= rest
}

// rests reports whether nothing happens in the cluster. It reads the watch caches only.
func (c *Collector) rests(ctx context.Context) (bool, error) {
	var claims karpv1.NodeClaimList
	if err := c.Client.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list claims: %w", err)
	}
	var nodes corev1.NodeList
	if err := c.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list nodes: %w", err)
	}
	return settled(claims.Items, nodes.Items, c.Clock.Now()), nil
}

// settled reports whether every claim of ours has been up for a while and its node is
// ready. Then no instance can be expected to be missing or left over. An instance that is
// ended without anybody's doing soon has a node that is not ready.
func settled(claims []karpv1.NodeClaim, nodes []corev1.Node, now time.Time) bool {
	ready := make(map[string]bool, len(nodes))
	for i := range nodes {
		ready[nodes[i].Spec.ProviderID] = readiness.IsReady(&nodes[i])
	}
	for i := range claims {
		claim := &claims[i]
		if !managed.Claim(claim) {
			continue
		}
		if !claim.DeletionTimestamp.IsZero() || now.Sub(claim.CreationTimestamp.Time) < young ||
			!condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInitialized) || !ready[claim.Status.ProviderID] {
			return false
		}
	}
	return true
}
