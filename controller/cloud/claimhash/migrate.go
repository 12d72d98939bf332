// Package claimhash brings the drift hashes of NodeClaims to the current hash version.
// A claim carries two drift hashes, that of its NodePool and that of its node class, each
// with the version of the hash function. Hashes of two versions cannot be compared, so a
// claim whose hash has an old version would never be found drifted.
package claimhash

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Hash is a drift hash with its version, and the keys of the annotations for both.
type Hash struct {
	Key, Value          string
	VersionKey, Version string
}

// Migrate writes the hash and its version on those claims that have a hash of another
// version. A claim with the condition Drifted gets the version only and keeps its hash, so
// that it stays drifted. It does not change claims. A claim that is gone is no error; the
// error joins those of all claims that could not be written.
func Migrate(ctx context.Context, c client.Client, claims []karpv1.NodeClaim, hash Hash) error {
	var failed []error
	for i := range claims {
		base := &claims[i]
		if base.Annotations[hash.VersionKey] == hash.Version {
			continue
		}
		claim := base.DeepCopy()
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[hash.VersionKey] = hash.Version
		if meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionDrifted) == nil {
			claim.Annotations[hash.Key] = hash.Value
		}
		if err := c.Patch(ctx, claim, client.MergeFrom(base)); client.IgnoreNotFound(err) != nil {
			failed = append(failed, fmt.Errorf("annotate NodeClaim %s: %w", claim.Name, err))
		}
	}
	return errors.Join(failed...)
}
