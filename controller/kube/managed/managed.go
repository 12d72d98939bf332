// Package managed tells the NodePools, NodeClaims and nodes of this controller from
// those of others. Karpenter's API may have several controllers in one cluster (EKS Auto
// Mode is one); each owns the objects that refer to its own kind of node class. Nothing
// of another controller's may be written, launched or deleted. The group of the reference
// decides: one with this group and a kind that does not exist is a mistake to report.
package managed

import (
	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Pool reports whether a NodePool refers to a node class of this controller's group.
func Pool(p *karpv1.NodePool) bool { return group(&p.Spec.Template.Spec.NodeClassRef) }

// Claim reports whether a NodeClaim refers to a node class of this controller's group.
func Claim(c *karpv1.NodeClaim) bool { return group(&c.Spec.NodeClassRef) }

// group: the API server accepts no empty group, manifests in files may have one.
func group(ref *karpv1.NodeClassReference) bool { return ref.Group == "" || ref.Group == awsv1.Group }

// Node reports whether a node was launched from an EC2NodeClass: it then has the label
// of the class, as every node of Karpenter's and of this controller has.
func Node(n *corev1.Node) bool {
	_, ok := n.Labels[awsv1.LabelEC2NodeClass]
	return ok
}
