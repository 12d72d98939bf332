package condition

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Disruption is why a claim is being deleted.
type Disruption struct {
	// Reason is one word in CamelCase, Message a sentence for users.
	Reason, Message string
	// At is when the reason arose; zero for now.
	At time.Time
}

// WriteDisruption writes the condition DisruptionReason of the claim. It does not
// change claim. The patch replaces the whole list of conditions; when the claim has
// changed since it was read, the API server refuses the patch, and it is tried again
// with the cached claim a few times. It is no error if the claim is gone or keeps
// changing: the deletion matters more than its reason.
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

// ClearDisruption removes the condition DisruptionReason of the claim with the name,
// unless the claim is being deleted. It is no error if the claim is gone.
func ClearDisruption(ctx context.Context, c client.Client, name string) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		cached := &karpv1.NodeClaim{}
		if err := c.Get(ctx, types.NamespacedName{Name: name}, cached); err != nil {
			return err
		}
		claim := cached.DeepCopy()
		if !claim.DeletionTimestamp.IsZero() || !meta.RemoveStatusCondition(&claim.Status.Conditions, karpv1.ConditionDisruptionReason) {
			return nil
		}
		return c.Status().Patch(ctx, claim, client.MergeFromWithOptions(cached, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("clear why claim %s goes: %w", name, err)
	}
	return nil
}
