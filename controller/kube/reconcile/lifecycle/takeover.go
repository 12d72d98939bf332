package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/reconcile/index"
)

// clockSkew is how much earlier than the claim, by EC2's clock, its instance may have been
// launched.
const clockSkew = time.Minute

var errUnplanned = errors.New("no decision has chosen its options yet; its events say what is in the way")

// takeOver handles a claim of Karpenter's or of a person's before its first launch here. It
// takes over the instance that Karpenter launched for the claim without recording it, if
// there is one. A claim without instance and without options waits for a decision.
func (r *Reconciler) takeOver(ctx context.Context, claim *karpv1.NodeClaim) (done bool, wait time.Duration, err error) {
	in, err := r.unrecorded(ctx, claim)
	switch {
	case err != nil:
		return false, 0, err
	case in != nil:
		return true, 0, r.launched(ctx, claim, in)
	case claim.Annotations[karpv1.AnnotationLaunch] != "":
		return false, 0, nil
	}
	condition.Unknown(&claim.Status.Conditions, claim.Generation, karpv1.ConditionLaunched, "AwaitingDecision", errUnplanned.Error())
	wait, err = r.launchOverdue(ctx, claim, errUnplanned)
	return false, min(wait, launchRetry), err
}

// unrecorded returns the running instance that is tagged with the claim's name and that no
// claim has, nil when there is none.
func (r *Reconciler) unrecorded(ctx context.Context, claim *karpv1.NodeClaim) (*provider.Instance, error) {
	instances, err := r.Provider.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for an instance of %s: %w", claim.Name, err)
	}
	for i := range instances {
		in := &instances[i]
		if in.Claim != claim.Name || in.State != "pending" && in.State != "running" ||
			in.LaunchTime.Before(claim.CreationTimestamp.Add(-clockSkew)) {
			continue
		}
		var owners karpv1.NodeClaimList
		if err := r.Client.List(ctx, &owners, client.MatchingFields{index.ProviderID: in.ProviderID}); err != nil {
			return nil, fmt.Errorf("look for the claim of %s: %w", in.ProviderID, err)
		}
		if len(owners.Items) == 0 {
			return in, nil
		}
	}
	return nil, nil //nolint:nilnil // no instance is an ordinary answer, not an error
}
