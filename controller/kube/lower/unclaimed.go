package lower

import (
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// unclaimed returns the instances that are billed and have neither a claim nor a node: those
// that lost both, and those that somebody else tagged as ours. Garbage collection ends them,
// unless it is stopped; until then they are part of what is spent.
func (b *builder) unclaimed() []claimNode {
	if b.in.Cloud == nil {
		return nil
	}
	known := map[string]bool{}
	for _, n := range b.in.Nodes {
		known[n.Spec.ProviderID] = true // priced as a node without a claim
	}
	for _, c := range b.in.NodeClaims {
		known[c.Status.ProviderID] = true
	}
	var out []claimNode
	all := b.in.Cloud.Unclaimed()
	for i := range all {
		if !known[all[i].ProviderID] {
			out = append(out, claimNode{instance: &all[i]})
		}
	}
	return out
}

// unclaimedNode is the node of an instance that has neither claim nor node. It is on its way
// out, so that nothing is planned onto it.
func unclaimedNode(in *provider.Instance) model.Node {
	return model.Node{
		Name: in.ProviderID, Pool: -1, PoolName: in.NodePool, State: model.Deleting, Allocatable: model.Resources{},
		InstanceType: in.InstanceType, Zone: in.Zone, CapacityType: in.CapacityType, LaunchedAt: in.LaunchTime.UTC(),
	}
}

// addUnclaimed adds such a node, with its price and the labels of its NodePool.
func (b *builder) addUnclaimed(n model.Node) {
	if p, ok := b.poolAt[n.PoolName]; ok {
		n.PoolLabels = b.out.Pools[p].Labels
	}
	b.priceUnclaimed(&n)
	b.claims = append(b.claims, nil)
	b.out.Nodes = append(b.out.Nodes, n)
}
