package nodeclass

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// annotate adds the finalizer and the drift hash. Where the class has a hash of
// another version, its claims are stamped anew first: hashes of two versions
// cannot be compared, and without the stamp a later change of the class would go
// unnoticed.
func (r *Reconciler) annotate(ctx context.Context, class *awsv1.EC2NodeClass) error {
	before := class.DeepCopy()
	hash, err := class.Hash(r.DriftCA)
	if err != nil {
		return err
	}
	if class.Annotations[awsv1.AnnotationEC2NodeClassHashVersion] != awsv1.EC2NodeClassHashVersion {
		if err := r.restamp(ctx, class.Name, hash); err != nil {
			return err
		}
	}
	controllerutil.AddFinalizer(class, awsv1.FinalizerTermination)
	if class.Annotations == nil {
		class.Annotations = map[string]string{}
	}
	class.Annotations[awsv1.AnnotationEC2NodeClassHash] = hash
	class.Annotations[awsv1.AnnotationEC2NodeClassHashVersion] = awsv1.EC2NodeClassHashVersion
	if equality.Semantic.DeepEqual(before.ObjectMeta, class.ObjectMeta) {
		return nil
	}
	// The lock keeps finalizers that others add at the same time.
	if err := r.Client.Patch(ctx, class, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("annotate EC2NodeClass %s: %w", class.Name, err)
	}
	return nil
}

// restamp gives the claims of a class that carry a hash of another version the
// current version and the given hash. A claim that has drifted keeps its hash, so
// that it stays drifted. Claims that could not be written are in the error and
// are tried again with the class.
func (r *Reconciler) restamp(ctx context.Context, class, hash string) error {
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims); err != nil {
		return fmt.Errorf("list claims of EC2NodeClass %s: %w", class, err)
	}
	var failed []error
	for i := range claims.Items {
		base := &claims.Items[i]
		ref := base.Spec.NodeClassRef
		if ref.Group != awsv1.Group || ref.Kind != awsv1.Kind || ref.Name != class ||
			base.Annotations[awsv1.AnnotationEC2NodeClassHashVersion] == awsv1.EC2NodeClassHashVersion {
			continue
		}
		claim := base.DeepCopy()
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[awsv1.AnnotationEC2NodeClassHashVersion] = awsv1.EC2NodeClassHashVersion
		if meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionDrifted) == nil {
			claim.Annotations[awsv1.AnnotationEC2NodeClassHash] = hash
		}
		if err := r.Client.Patch(ctx, claim, client.MergeFrom(base)); client.IgnoreNotFound(err) != nil {
			failed = append(failed, fmt.Errorf("annotate NodeClaim %s: %w", claim.Name, err))
		}
	}
	return errors.Join(failed...)
}
