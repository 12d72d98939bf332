package constraint

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Group is a set of pods that topology constraints count by domain, the
// value of a node label: the pods that all selectors match, on the nodes that the
// filter admits.
type Group struct {
	Key       string
	selectors []*model.PodSelector
	// text identifies the group and orders groups.
	text string
	// PerHost says that the key is the hostname, so that every node is a domain.
	// Such a group is counted node by node (NodeCounts) while nodes are filled;
	// rules over all other groups decide about domains before that.
	PerHost bool
	// Filter is a spec whose node selector and affinity (HonorAffinity) and whose
	// tolerations (HonorTaints) say which nodes count; nil for all.
	Filter                     *model.PodSpec
	HonorAffinity, HonorTaints bool
	// Keys are labels that a node must have besides to count.
	Keys []string
	// ForSpread says that a spread looks at the group: pods that are ending are
	// not counted.
	ForSpread bool
	// Packed says, of a PerHost group, that packing respects its rules
	// (SelectPacked). The rules of other PerHost groups are kept when pods are
	// assigned to the nodes of a packing.
	Packed bool
}

// spreadGroup is the group of a topology spread constraint of a spec. By hostname
// only the pod's own node is looked at, so that every node counts.
func spreadGroup(s *model.PodSpec, sp *model.Spread) Group {
	if s.Pinned { // volumes do not say which nodes count
		own := *s
		own.Affinity = s.OwnAffinity
		s = &own
	}
	g := Group{Key: sp.Key, selectors: []*model.PodSelector{&sp.Selector}, ForSpread: true}
	g.HonorAffinity = !sp.IgnoreAffinity && (len(s.NodeSelector) > 0 || len(s.Affinity) > 0)
	g.HonorTaints = sp.HonorTaints
	for i := range s.Spread { // the scheduler counts nodes with the keys of all of them
		if o := &s.Spread[i]; !o.Soft && !sp.Soft && o.Key != sp.Key && o.Key != LabelHostname {
			g.Keys = append(g.Keys, o.Key)
		}
	}
	slices.Sort(g.Keys)
	if sp.Key == LabelHostname {
		g.HonorAffinity, g.HonorTaints, g.Keys = false, false, nil
	}
	if g.HonorAffinity || g.HonorTaints || len(g.Keys) > 0 {
		g.Filter = s
	}
	return g
}

// antiAffinityGroup is the group of a pod anti-affinity term.
func antiAffinityGroup(t *model.PodTerm) Group {
	return Group{Key: t.Key, selectors: []*model.PodSelector{&t.Selector}}
}

// affinityGroup is the group of pod affinity term i of a spec: the scheduler looks
// for pods that all affinity terms of the pod match.
func affinityGroup(s *model.PodSpec, i int) Group {
	g := Group{Key: s.PodAffinity[i].Key}
	for j := range s.PodAffinity {
		g.selectors = append(g.selectors, &s.PodAffinity[j].Selector)
	}
	return g
}

// matches says whether the group's selectors match pods of a spec.
func (g *Group) matches(s *model.PodSpec) bool {
	for _, sel := range g.selectors {
		if !sel.Matches(s.Namespace, s.Labels) {
			return false
		}
	}
	return true
}

// CountsNode says whether the group counts pods on a node with these labels and
// taints.
func (g *Group) CountsNode(labels func(string) (string, bool), taints []model.Taint) bool {
	for _, k := range g.Keys {
		if _, ok := labels(k); !ok {
			return false
		}
	}
	return (!g.HonorAffinity || g.Filter.Selects(labels)) &&
		(!g.HonorTaints || toleratesReal(g.Filter.Tolerations, taints))
}

// toleratesReal reports whether the tolerations match every taint that the node has outside
// of the simulation.
func toleratesReal(tolerations []model.Toleration, taints []model.Taint) bool {
	for i := range taints {
		if taints[i].Effect != model.NoPlacement && Untolerated(tolerations, taints[i:i+1]) != nil {
			return false
		}
	}
	return true
}
