package lower

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// identify sets what decides about a node's price: its instance type, zone, capacity
// type, NodePool (as PoolName) and start. They come from the cloud's list of instances,
// else from the claim. A node may change its own labels, so these only decide where
// pods fit; labels that say otherwise are reported. The cloud also knows the instances
// that Spokeshave launched and that have no claim: they are billed until garbage
// collection ends them, and get their price here.
func (b *builder) identify(n *model.Node, node *corev1.Node, claim *karpv1.NodeClaim) {
	instance, listed := b.instance(node, claim)
	if claim != nil {
		n.PoolName = claim.Labels[karpv1.LabelNodePool]
	}
	if listed {
		n.InstanceType, n.Zone, n.CapacityType = instance.InstanceType, instance.Zone, instance.CapacityType
		if at := instance.LaunchTime.UTC(); !at.IsZero() && (claim == nil || at.Before(n.LaunchedAt)) {
			n.LaunchedAt = at
		}
	}
	switch {
	case claim != nil:
		b.compare(n, node, claim)
	case listed:
		n.PoolName = instance.NodePool
		b.priceUnclaimed(n)
	}
}

// instance returns what the cloud has listed of the claim's instance, or of the node's
// when there is no claim.
func (b *builder) instance(node *corev1.Node, claim *karpv1.NodeClaim) (provider.Instance, bool) {
	id := ""
	switch {
	case b.in.Instance == nil:
	case claim != nil:
		id = claim.Status.ProviderID
	default:
		id = node.Spec.ProviderID
	}
	if id == "" {
		return provider.Instance{}, false
	}
	return b.in.Instance(id)
}

// compare reports labels of a registered node, and of its claim, that contradict what
// the node is.
func (b *builder) compare(n *model.Node, node *corev1.Node, claim *karpv1.NodeClaim) {
	if node == nil || !meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionRegistered) || n.InstanceType == "" {
		return
	}
	is := map[string]string{
		corev1.LabelInstanceTypeStable: n.InstanceType, corev1.LabelTopologyZone: n.Zone,
		karpv1.LabelCapacityType: string(n.CapacityType), karpv1.LabelNodePool: n.PoolName,
	}
	for _, each := range []struct {
		object string
		labels map[string]string
	}{{"Node " + node.Name, node.Labels}, {"NodeClaim " + claim.Name, claim.Labels}} {
		var wrong []string
		for key, value := range is {
			if have := each.labels[key]; have != value {
				wrong = append(wrong, key+" is "+value+", and the label says \""+have+"\"")
			}
		}
		if len(wrong) > 0 {
			slices.Sort(wrong)
			n.Mislabelled = true
			b.report(karpv1.EventNodeIdentityMismatch, each.object, "counted as what it is: %s", strings.Join(wrong, "; "))
		}
	}
}
