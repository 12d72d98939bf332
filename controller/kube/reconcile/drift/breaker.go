package drift

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/reconcile/breaker"
)

// recheck is when a claim is checked again whose drift is stopped.
const recheck = time.Minute

// held returns after how long to check again a claim whose drift is not to be known yet, 0
// when it may be: because it drifted before, because a change of its NodePool or class
// explains it, or because only a few of its NodePool drift without one.
func (r *Reconciler) held(ctx context.Context, claim *karpv1.NodeClaim, pool *karpv1.NodePool, reason string) (time.Duration, error) {
	if r.Breaker == nil {
		return 0, nil
	}
	if !r.Breaker.Synced() {
		return time.Second, nil
	}
	seen, err := r.inputs(ctx, pool)
	if err != nil {
		return 0, err
	}
	explained := r.Breaker.Explained(pool.Name, seen) || reason == string(provider.CapacityReservationDrift) // EC2 ends it
	switch {
	case reason == "" || explained || r.Breaker.Allowed(breaker.Drift):
		if r.burst.Remove(pool.Name, claim.UID) {
			r.Breaker.Clear(breaker.Drift, pool.Name)
		}
		return 0, nil
	case r.Breaker.Stopped(breaker.Drift, pool.Name):
		return recheck, nil
	case condition.IsTrue(claim.Status.Conditions, karpv1.ConditionDrifted):
		return 0, nil
	}
	n, wait := r.burst.Add(pool.Name, claim.UID, r.Clock.Now())
	if wait > 0 {
		return wait, nil
	}
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims, client.MatchingLabels{karpv1.LabelNodePool: pool.Name}); err != nil {
		return 0, fmt.Errorf("count claims of NodePool %s: %w", pool.Name, err)
	}
	if n <= r.Breaker.Limit(len(claims.Items)) {
		return 0, nil
	}
	return recheck, r.Breaker.Stop(ctx, breaker.Drift, pool.Name, fmt.Sprintf(
		"%d of the %d nodes of NodePool %s have drifted (%s), and %s", n, len(claims.Items), pool.Name, reason, unchanged(r.Breaker.ChangedAt(pool.Name))))
}

// unchanged says that nothing explains drift. at is when the NodePool or its class was seen to change last, zero for never.
func unchanged(at time.Time) string {
	if at.IsZero() {
		return "no change of the NodePool or its class is on record"
	}
	return "nobody has changed the NodePool or its class since " + at.UTC().Format(time.RFC3339)
}

// inputs returns what decides whether nodes of the pool have drifted.
func (r *Reconciler) inputs(ctx context.Context, pool *karpv1.NodePool) (breaker.Inputs, error) {
	class := &awsv1.EC2NodeClass{}
	err := r.Client.Get(ctx, types.NamespacedName{Name: pool.Spec.Template.Spec.NodeClassRef.Name}, class)
	if client.IgnoreNotFound(err) != nil {
		return breaker.Inputs{}, fmt.Errorf("read EC2NodeClass of NodePool %s: %w", pool.Name, err)
	}
	sum := fnv.New64a()
	for _, id := range resolved(&class.Status) {
		_, _ = fmt.Fprintln(sum, id) // writing to a hash never fails
	}
	return breaker.Inputs{
		Version:  r.Version,
		Spec:     fmt.Sprintf("%s/%d %s/%d", pool.UID, pool.Generation, class.UID, class.Generation),
		Resolved: fmt.Sprintf("%x", sum.Sum64()),
	}, nil
}

// resolved returns what AWS has for a class, sorted: subnets are ordered by their free
// addresses, which change with every launch.
func resolved(status *awsv1.EC2NodeClassStatus) []string {
	out := []string{status.InstanceProfile}
	for i := range status.AMIs {
		out = append(out, status.AMIs[i].ID)
	}
	for i := range status.Subnets {
		out = append(out, status.Subnets[i].ID)
	}
	for i := range status.SecurityGroups {
		out = append(out, status.SecurityGroups[i].ID)
	}
	for i := range status.CapacityReservations {
		r := &status.CapacityReservations[i]
		out = append(out, r.ID+" "+r.State)
	}
	slices.Sort(out)
	return out
}
