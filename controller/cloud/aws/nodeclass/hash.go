package nodeclass

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/claimhash"
)

// annotate adds the finalizer and the drift hash. Where the class has a hash of
// another version, the hashes of its claims are brought to the current version first.
func (r *Reconciler) annotate(ctx context.Context, class *awsv1.EC2NodeClass) error {
	before := class.DeepCopy()
	hash, err := class.Hash(r.DriftCA)
	if err != nil {
		return err
	}
	if class.Annotations[awsv1.AnnotationEC2NodeClassHashVersion] != awsv1.EC2NodeClassHashVersion {
		if err := r.migrateClaims(ctx, class.Name, hash); err != nil {
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

// migrateClaims writes the current hash version, and the given hash, on the claims of a
// class.
func (r *Reconciler) migrateClaims(ctx context.Context, class, hash string) error {
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims); err != nil {
		return fmt.Errorf("list claims of EC2NodeClass %s: %w", class, err)
	}
	others := func(claim karpv1.NodeClaim) bool {
		ref := claim.Spec.NodeClassRef
		return ref.Group != awsv1.Group || ref.Kind != awsv1.Kind || ref.Name != class
	}
	return claimhash.Migrate(ctx, r.Client, slices.DeleteFunc(claims.Items, others), claimhash.Hash{
		Key: awsv1.AnnotationEC2NodeClassHash, Value: hash,
		VersionKey: awsv1.AnnotationEC2NodeClassHashVersion, Version: awsv1.EC2NodeClassHashVersion,
	})
}
