package lower

import (
	"slices"
	"strings"
	"time"

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
	known := len(b.warnings)
	instance, listed := b.instance(node, claim)
	n.Mislabelled = len(b.warnings) > known
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
// when there is no claim. The status of a claim names its instance, and the instance's tags
// name the claim: where they contradict each other the tags decide, since more users may
// write the status of claims.
func (b *builder) instance(node *corev1.Node, claim *karpv1.NodeClaim) (provider.Instance, bool) {
	if b.in.Cloud == nil {
		return provider.Instance{}, false
	}
	if claim == nil {
		return b.in.Cloud.Get(node.Spec.ProviderID)
	}
	if claim.Status.ProviderID == "" {
		return provider.Instance{}, false
	}
	named, listed := b.in.Cloud.Get(claim.Status.ProviderID)
	if listed && (named.Claim == claim.Name || named.Claim == "") {
		return named, true
	}
	if b.in.Time.Sub(claim.CreationTimestamp.Time) < unlisted {
		return named, listed // the list may be older than the tags
	}
	tagged, found := b.in.Cloud.Of(claim.Name)
	switch {
	case found:
		b.report(karpv1.EventNodeIdentityMismatch, "NodeClaim "+claim.Name, "counted as what it is: status.providerID is %q, and the instance that is tagged with the claim is %s",
			claim.Status.ProviderID, tagged.ProviderID)
	case listed:
		b.report(karpv1.EventNodeIdentityMismatch, "NodeClaim "+claim.Name, "counted by its labels: status.providerID is %s, which is tagged with NodeClaim %s",
			claim.Status.ProviderID, named.Claim)
	}
	return tagged, found
}

// unlisted is how long after a claim was made its instance and its tags may be missing from
// the list.
const unlisted = time.Minute

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
