package lower

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/managed"
)

// claimNode is a NodeClaim and its node, either of which may be nil, or an instance that has
// neither.
type claimNode struct {
	node     *corev1.Node
	claim    *karpv1.NodeClaim
	instance *provider.Instance
}

// claimNodes finds the node of each NodeClaim. A node belongs to at most one claim, whatever
// the order of the lists: claims whose provider ID is that of a node choose before
// those that only name the node, and within each group the first by name chooses first.
func (b *builder) claimNodes() []claimNode {
	byName := make(map[string]*corev1.Node, len(b.in.Nodes))
	byProvider := make(map[string]*corev1.Node, len(b.in.Nodes))
	for _, n := range b.in.Nodes {
		byName[n.Name] = n
		id := n.Spec.ProviderID
		if other := byProvider[id]; id != "" && (other == nil || n.Name < other.Name) {
			byProvider[id] = n
		}
	}
	stranger := func(c *karpv1.NodeClaim) int {
		if byProvider[c.Status.ProviderID] == nil {
			return 1
		}
		return 0
	}
	claims := slices.DeleteFunc(slices.Clone(b.in.NodeClaims), func(c *karpv1.NodeClaim) bool { return !managed.Claim(c) })
	slices.SortFunc(claims, func(x, y *karpv1.NodeClaim) int {
		return cmp.Or(cmp.Compare(stranger(x), stranger(y)), cmp.Compare(x.Name, y.Name))
	})
	claimed := make(map[string]bool, len(claims))
	out := make([]claimNode, 0, len(b.in.Nodes)+len(claims))
	for _, c := range claims {
		node := byName[c.Status.NodeName]
		if node == nil {
			node = byProvider[c.Status.ProviderID]
		}
		if node != nil && claimed[node.Name] {
			b.warn("NodeClaim "+c.Name, "node %s belongs to another NodeClaim", node.Name)
			node = nil
		}
		if node != nil {
			claimed[node.Name] = true
		}
		out = append(out, claimNode{node: node, claim: c})
	}
	for _, n := range b.in.Nodes {
		if !claimed[n.Name] {
			out = append(out, claimNode{node: n})
		}
	}
	return out
}
