package expiration

import (
	"context"
	"fmt"
	"time"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/breaker"
)

// recheck is when a claim is checked again whose expiry is stopped.
const recheck = time.Minute

// held returns after how long to check again a claim that has expired and is not to be
// deleted yet, 0 when it may be: because it was not due before, because its expiry is
// allowed, or because only a few are overdue.
func (r *Reconciler) held(ctx context.Context, claim *karpv1.NodeClaim, due time.Time) (time.Duration, error) {
	switch {
	case r.Breaker == nil || r.Breaker.Allowed(breaker.Expiration):
		return 0, nil
	case !r.Breaker.Compared():
		return time.Second, nil
	case !r.Breaker.Overdue(due):
		return 0, nil
	case r.Breaker.Stopped(breaker.Expiration, ""):
		return recheck, nil
	}
	n, wait := r.burst.Add("", claim.UID, r.Clock.Now())
	if wait > 0 {
		return wait, nil
	}
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims); err != nil {
		return 0, fmt.Errorf("count claims: %w", err)
	}
	if n <= r.Breaker.Limit(len(claims.Items)) {
		return 0, nil
	}
	return recheck, r.Breaker.Stop(ctx, breaker.Expiration, "", fmt.Sprintf(
		"%d of %d nodes have suddenly reached the age of expireAfter%s", n, len(claims.Items), r.Breaker.WhyOverdue()))
}
