package condition

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Disruption is why a claim is about to be deleted.
type Disruption struct {
	// Reason is one word in CamelCase, Message a sentence for people.
	Reason, Message string
	// At is when the reason came about; zero for the present.
	At time.Time
}

// WriteDisruption sets and writes the claim's condition DisruptionReason. It does not
// change claim. The patch replaces the whole list of conditions, so that it is refused
// when the claim has changed since it was read, and is then made anew from the cached
// claim, some times. A claim that is gone or goes on changing goes without the
// condition: that is no error, because the deletion matters more than its reason.
func WriteDisruption(ctx context.Context, c client.Client, claim *karpv1.NodeClaim, d Disruption) error {
	current, again := claim.DeepCopy(), false
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if again {
			cached := &karpv1.NodeClaim{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(claim), cached); err != nil {
				return err
			}
			current = cached.DeepCopy()
		}
		again = true
		base := current.DeepCopy()
		set := metav1.Condition{
			Type: karpv1.ConditionDisruptionReason, Status: metav1.ConditionTrue, Reason: d.Reason, Message: d.Message, ObservedGeneration: current.Generation,
		}
		if !d.At.IsZero() {
			set.LastTransitionTime = metav1.NewTime(d.At)
		}
		meta.SetStatusCondition(&current.Status.Conditions, set)
		return c.Status().Patch(ctx, current, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("write on %s why it goes: %w", claim.Name, err)
	}
	return nil
}
