package nodepool

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/claimhash"
)

// hash writes the drift hash of the pool's template on the pool. If the pool has a hash
// of another version, for example from an older Karpenter, the hashes of its claims are
// brought to the current version first.
func (r *Reconciler) hash(ctx context.Context, pool *karpv1.NodePool) error {
	want, err := pool.Hash()
	if err != nil {
		return fmt.Errorf("hash NodePool %s: %w", pool.Name, err)
	}
	version := pool.Annotations[karpv1.AnnotationNodePoolHashVersion]
	if pool.Annotations[karpv1.AnnotationNodePoolHash] == want && version == karpv1.NodePoolHashVersion {
		return nil
	}
	if version != karpv1.NodePoolHashVersion {
		if err := r.migrateClaims(ctx, pool.Name, want); err != nil {
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

// migrateClaims writes the current hash version, and the given hash, on the pool's claims.
func (r *Reconciler) migrateClaims(ctx context.Context, pool, hash string) error {
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims, client.MatchingLabels{karpv1.LabelNodePool: pool}); err != nil {
		return fmt.Errorf("list claims of NodePool %s: %w", pool, err)
	}
	return claimhash.Migrate(ctx, r.Client, claims.Items, claimhash.Hash{
		Key: karpv1.AnnotationNodePoolHash, Value: hash,
		VersionKey: karpv1.AnnotationNodePoolHashVersion, Version: karpv1.NodePoolHashVersion,
	})
}
