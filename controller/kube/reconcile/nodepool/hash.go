package nodepool

import (
	"context"
	"errors"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// hash writes the drift hash of the pool's template on the pool. If the pool has a hash
// of another version, for example from an older Karpenter, the hashes of its claims are
// rewritten first: hashes of two versions cannot be compared, and without this a later
// change of the template would not be noticed.
func (r *Reconciler) hash(ctx context.Context, pool *karpv1.NodePool) error {
	want := pool.Hash()
	version := pool.Annotations[karpv1.AnnotationNodePoolHashVersion]
	if pool.Annotations[karpv1.AnnotationNodePoolHash] == want && version == karpv1.NodePoolHashVersion {
		return nil
	}
	if version != karpv1.NodePoolHashVersion {
		if err := r.restamp(ctx, pool.Name, want); err != nil {
			return err
		}
	}
	base := pool.DeepCopy()
	if pool.Annotations == nil {
		pool.Annotations = map[string]string{}
	}
	pool.Annotations[karpv1.AnnotationNodePoolHash] = want
	pool.Annotations[karpv1.AnnotationNodePoolHashVersion] = karpv1.NodePoolHashVersion
	if err := r.Client.Patch(ctx, pool, client.MergeFrom(base)); err != nil {
		return fmt.Errorf("annotate NodePool %s: %w", pool.Name, err)
	}
	return nil
}

// restamp writes the current hash version and the given hash on those claims of a pool
// that have a hash of another version. A drifted claim keeps its hash, so that it stays
// drifted. Claims are written one by one; the error joins those of claims that could
// not be written, and the pool is reconciled again.
func (r *Reconciler) restamp(ctx context.Context, pool, hash string) error {
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims, client.MatchingLabels{karpv1.LabelNodePool: pool}); err != nil {
		return fmt.Errorf("list claims of NodePool %s: %w", pool, err)
	}
	var failed []error
	for i := range claims.Items {
		base := &claims.Items[i]
		if base.Annotations[karpv1.AnnotationNodePoolHashVersion] == karpv1.NodePoolHashVersion {
			continue
		}
		claim := base.DeepCopy()
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[karpv1.AnnotationNodePoolHashVersion] = karpv1.NodePoolHashVersion
		if apimeta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionDrifted) == nil {
			claim.Annotations[karpv1.AnnotationNodePoolHash] = hash
		}
		if err := r.Client.Patch(ctx, claim, client.MergeFrom(base)); client.IgnoreNotFound(err) != nil {
			failed = append(failed, fmt.Errorf("annotate NodeClaim %s: %w", claim.Name, err))
		}
	}
	return errors.Join(failed...)
}
