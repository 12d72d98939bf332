package v1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/api/internal/drifthash"
)

// NodePoolHashVersion goes into AnnotationNodePoolHashVersion. It is Karpenter's
// version (1.14), because Hash computes Karpenter's hash: either controller
// recognises the other's nodes.
const NodePoolHashVersion = "v3"

// Hash digests the fields of the template that make a node drift when they
// change, as Karpenter does: labels, annotations, taints, startupTaints,
// nodeClassRef, terminationGracePeriod and expireAfter. Requirements are compared
// with the node itself and are left out. The order of taints and the spelling of
// durations do not matter. It fails only if a field's type cannot be hashed, which is a
// defect.
func (p *NodePool) Hash() (string, error) {
	template := &p.Spec.Template
	ref := template.Spec.NodeClassRef
	return drifthash.Sum(drifthash.NodeClaimTemplate{
		ObjectMeta: drifthash.ObjectMeta{Labels: template.Metadata.Labels, Annotations: template.Metadata.Annotations},
		Spec: drifthash.NodeClaimTemplateSpec{
			Taints: template.Spec.Taints, StartupTaints: template.Spec.StartupTaints,
			NodeClassRef:           drifthash.NodeClassReference{Kind: ref.Kind, Name: ref.Name, Group: ref.Group},
			TerminationGracePeriod: (*metav1.Duration)(template.Spec.TerminationGracePeriod),
			ExpireAfter:            drifthash.NillableDuration{Duration: nillable(template.Spec.ExpireAfter)},
		},
	})
}

// nillable is the duration, or nil for Never.
func nillable(d NillableDuration) *time.Duration {
	if v, ok := d.Duration(); ok {
		return &v
	}
	return nil
}
