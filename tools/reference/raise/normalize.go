package raise

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"spokeshave.dev/controller/core/model"
)

// Normalize changes what a drawn snapshot has and no cluster could have, so that the
// snapshot and its objects say the same:
//
//   - pods with unsupported requirements end: Karpenter knows other ones
//   - spread constraints count pods of their own namespace only, and a soft one has
//     no minDomains
//   - pods are in the namespace of their spec
//   - every node has the labels of its claim, and no taint that only a node without a
//     kubelet has
//   - the usage of a NodePool is that of its nodes
func Normalize(s *model.Snapshot) {
	for i := range s.Specs {
		normalizeSpec(&s.Specs[i])
	}
	for i := range s.Daemons {
		normalizeSpec(&s.Daemons[i].Spec)
	}
	for i := range s.Pods {
		s.Pods[i].Namespace = s.Specs[s.Pods[i].Spec].Namespace
	}
	for i := range s.Nodes {
		normalizeNode(s, &s.Nodes[i])
	}
	for i := range s.Pools {
		s.Pools[i].Usage = Usage(s, int32(i))
	}
}

// LiftBudgets lets budgets allow that every node goes: budgets drawn from a seed would only
// delay what consolidations are compared for.
func LiftBudgets(s *model.Snapshot) {
	for i := range s.Pools {
		if d := &s.Pools[i].Disruption; d.Policy != "" {
			d.AllowedEmpty, d.AllowedUnderutilized, d.AllowedDrifted = len(s.Nodes), len(s.Nodes), len(s.Nodes)
		}
	}
}

func normalizeSpec(p *model.PodSpec) {
	p.Unsupported = nil
	p.Spread = slices.Clone(p.Spread)
	for i := range p.Spread {
		c := &p.Spread[i]
		c.Selector.Namespaces = []string{p.Namespace}
		if c.Soft {
			c.MinDomains = 1
		}
	}
}

func normalizeNode(s *model.Snapshot, n *model.Node) {
	n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t model.Taint) bool { return t.Key == karpv1.UnregisteredTaintKey })
	if n.Claim == "" && n.Pool >= 0 {
		n.Claim = "claim-" + n.Name
	}
	labels := maps.Clone(n.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if n.Pool >= 0 {
		p := &s.Pools[n.Pool]
		if t := TypeOf(s, p.Catalog, n.InstanceType); t != nil {
			maps.Copy(labels, t.Labels)
		}
		maps.Copy(labels, p.NodeLabels)
		labels[karpv1.NodePoolLabelKey] = p.Name
	}
	labels[corev1.LabelHostname], labels[corev1.LabelInstanceTypeStable] = n.Name, n.InstanceType
	labels[corev1.LabelTopologyZone], labels[karpv1.CapacityTypeLabelKey] = n.Zone, string(n.CapacityType)
	n.Labels = labels
}

// Usage is the capacity of a pool's nodes, but for those that are being deleted.
func Usage(s *model.Snapshot, pool int32) model.Resources {
	out := model.Resources{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Pool != pool || n.State == model.Deleting {
			continue
		}
		out.Add(capacityOf(s, n))
		out[model.NodeCount]++
	}
	return out
}

// capacityOf is the capacity of a node's instance type, in any catalogue.
func capacityOf(s *model.Snapshot, n *model.Node) model.Resources {
	for c := range s.Catalogs {
		if t := TypeOf(s, int32(c), n.InstanceType); t != nil {
			return t.Capacity
		}
	}
	return n.Allocatable
}

// TypeOf is an instance type of a catalogue by its name; nil for none.
func TypeOf(s *model.Snapshot, catalog int32, name string) *model.InstanceType {
	if catalog < 0 {
		return nil
	}
	types := s.Catalogs[catalog].Types
	for i := range types {
		if types[i].Name == name {
			return &types[i]
		}
	}
	return nil
}
