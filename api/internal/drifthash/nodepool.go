package drifthash

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeClaimTemplate has the fields of a NodePool's template whose change makes
// nodes drift. Requirements are not among them: they are compared with the node.
type NodeClaimTemplate struct {
	ObjectMeta
	Spec NodeClaimTemplateSpec
}

// ObjectMeta is the metadata of the template.
type ObjectMeta struct {
	Labels      map[string]string
	Annotations map[string]string
}

// NodeClaimTemplateSpec is the spec of the template.
type NodeClaimTemplateSpec struct {
	Taints                 []corev1.Taint
	StartupTaints          []corev1.Taint
	NodeClassRef           NodeClassReference
	TerminationGracePeriod *metav1.Duration
	ExpireAfter            NillableDuration
}

// NodeClassReference names the node class.
type NodeClassReference struct {
	Kind  string
	Name  string
	Group string
}

// NillableDuration is a duration, or nil for Never.
type NillableDuration struct {
	*time.Duration
}
