// Package readiness determines whether a node is ready, and whether it is initialized
// as its NodeClaim defines it.
package readiness

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Uninitialized returns what the node still lacks to be initialized, "" for nothing. An
// initialized node has started ([Missing]) and has no taint that Kubernetes, a cloud
// controller or a node readiness rule keeps on nodes that are starting.
func Uninitialized(claim *karpv1.NodeClaim, node *corev1.Node) string {
	if why := Missing(claim, node); why != "" {
		return why
	}
	for i := range node.Spec.Taints {
		if t := &node.Spec.Taints[i]; Ephemeral(t) && !slices.ContainsFunc(claim.Spec.Taints, func(own corev1.Taint) bool { return own.MatchTaint(t) }) {
			return "taint " + t.ToString() + " is still on node " + node.Name
		}
	}
	return ""
}

// Missing returns what the node itself still lacks, "" for nothing: to be ready, to lose
// its claim's startup taints, and to report every resource that the claim requests.
func Missing(claim *karpv1.NodeClaim, node *corev1.Node) string {
	if !IsReady(node) {
		return "node " + node.Name + " is not ready"
	}
	for _, t := range claim.Spec.StartupTaints {
		if slices.ContainsFunc(node.Spec.Taints, func(h corev1.Taint) bool { return h.MatchTaint(&t) }) {
			return "startup taint " + t.ToString() + " is still on node " + node.Name
		}
	}
	return Unreported(claim, node)
}

// readinessRules begins the keys of the taints that node readiness rules (the API group
// readiness.node.x-k8s.io) keep on a node until their conditions are true.
const readinessRules = "readiness.k8s.io/"

// Ephemeral reports whether others remove the taint once the node has started.
func Ephemeral(t *corev1.Taint) bool {
	switch t.Key {
	case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, "node.cloudprovider.kubernetes.io/uninitialized":
		return true
	}
	return strings.HasPrefix(t.Key, readinessRules)
}

// Unreported returns a message about a resource that the claim requests and the node
// does not report yet, "" for none.
func Unreported(claim *karpv1.NodeClaim, node *corev1.Node) string {
	for name, want := range claim.Spec.Resources.Requests {
		have, ok := node.Status.Allocatable[name]
		if !want.IsZero() && (!ok || have.IsZero()) {
			return "node " + node.Name + " does not report " + string(name) + " yet; is its device plugin running?"
		}
	}
	return ""
}

// IsReady reports whether the node's condition Ready is true.
func IsReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}
