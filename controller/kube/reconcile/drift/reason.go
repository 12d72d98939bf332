package drift

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// fromPool returns the reason why a claim no longer matches its NodePool, "" when it
// does. Hashes of different hash versions are not compared.
func fromPool(claim *karpv1.NodeClaim, pool *karpv1.NodePool) (string, error) {
	if claim.Annotations[karpv1.AnnotationNodePoolHashVersion] == karpv1.NodePoolHashVersion {
		hash, err := pool.Hash()
		if err != nil {
			return "", fmt.Errorf("hash NodePool %s: %w", pool.Name, err)
		}
		if claim.Annotations[karpv1.AnnotationNodePoolHash] != hash {
			return karpv1.DriftNodePool, nil
		}
	}
	for i := range pool.Spec.Template.Spec.Requirements {
		r := &pool.Spec.Template.Spec.Requirements[i]
		key := karpv1.NormalizeLabel(r.Key)
		value, present := claim.Labels[key]
		want := model.Requirement{Key: key, Operator: model.Operator(r.Operator), Values: r.Values}
		if !want.Matches(value, present) {
			return karpv1.DriftRequirements, nil
		}
	}
	return "", nil
}

// missingFor is how long a type has to be missing from the catalogue before its nodes
// have drifted, as in Karpenter: a price that is missing for a moment must not replace
// running nodes.
const missingFor = time.Hour

// lasting returns the reason that the catalogue gives once it has done so for missingFor
// without a break, or if the claim has the reason already; "" until then.
func (r *Reconciler) lasting(claim *karpv1.NodeClaim, reason string) string {
	if reason == "" {
		r.missing.Delete(claim.UID)
		return ""
	}
	now := r.Clock.Now()
	first, _ := r.missing.LoadOrStore(claim.UID, now)
	since, _ := first.(time.Time)
	known := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionDrifted)
	if now.Sub(since) >= missingFor || known != nil && known.Reason == reason {
		return reason
	}
	return ""
}

// fromCatalog returns a reason when the node class no longer offers the claim's
// instance type in its zone and capacity type. An offering that is only out of stock
// counts as offered.
func fromCatalog(claim *karpv1.NodeClaim, catalog *model.Catalog) string {
	if catalog.Provisional { // EC2 has not said yet what it sells
		return ""
	}
	for i := range catalog.Types {
		t := &catalog.Types[i]
		if t.Name != claim.Labels[corev1.LabelInstanceTypeStable] {
			continue
		}
		for _, o := range t.Offerings {
			if o.Zone == claim.Labels[corev1.LabelTopologyZone] && string(o.CapacityType) == claim.Labels[karpv1.LabelCapacityType] {
				return ""
			}
		}
	}
	return karpv1.DriftInstanceTypeNotFound
}
