package solver

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// topologyGroup is a set of pods that topology constraints count by domain, the
// value of a node label: the pods that all selectors match, on the nodes that the
// filter admits.
type topologyGroup struct {
	key       string
	selectors []*model.PodSelector
	// text identifies the group and orders groups.
	text string
	// perHost says that the key is the hostname, so that every node is a domain.
	// Such a group is counted node by node (nodeCounts) while nodes are filled;
	// rules over all other groups decide about domains before that.
	perHost bool
	// filter is a spec whose node selector and affinity (honorAffinity) and whose
	// tolerations (honorTaints) say which nodes count; nil for all.
	filter                     *model.PodSpec
	honorAffinity, honorTaints bool
	// keys are labels that a node must have besides to count.
	keys []string
	// forSpread says that a spread looks at the group: pods that are ending are
	// not counted.
	forSpread bool
	// packed says, of a perHost group, that packing respects its rules
	// (selectPacked). The rules of other perHost groups are kept when pods are
	// assigned to the nodes of a packing.
	packed bool
}

// spreadGroup is the group of a topology spread constraint of a spec. By hostname
// only the pod's own node is looked at, so that every node counts.
func spreadGroup(s *model.PodSpec, sp *model.Spread) topologyGroup {
	if s.Pinned { // volumes do not say which nodes count
		own := *s
		own.Affinity = s.OwnAffinity
		s = &own
	}
	g := topologyGroup{key: sp.Key, selectors: []*model.PodSelector{&sp.Selector}, forSpread: true}
	g.honorAffinity = !sp.IgnoreAffinity && (len(s.NodeSelector) > 0 || len(s.Affinity) > 0)
	g.honorTaints = sp.HonorTaints
	for i := range s.Spread { // the scheduler counts nodes with the keys of all of them
		if o := &s.Spread[i]; !o.Soft && !sp.Soft && o.Key != sp.Key && o.Key != labelHostname {
			g.keys = append(g.keys, o.Key)
		}
	}
	slices.Sort(g.keys)
	if sp.Key == labelHostname {
		g.honorAffinity, g.honorTaints, g.keys = false, false, nil
	}
	if g.honorAffinity || g.honorTaints || len(g.keys) > 0 {
		g.filter = s
	}
	return g
}

// antiAffinityGroup is the group of a pod anti-affinity term.
func antiAffinityGroup(t *model.PodTerm) topologyGroup {
	return topologyGroup{key: t.Key, selectors: []*model.PodSelector{&t.Selector}}
}

// affinityGroup is the group of pod affinity term i of a spec: the scheduler looks
// for pods that all affinity terms of the pod match.
func affinityGroup(s *model.PodSpec, i int) topologyGroup {
	g := topologyGroup{key: s.PodAffinity[i].Key}
	for j := range s.PodAffinity {
		g.selectors = append(g.selectors, &s.PodAffinity[j].Selector)
	}
	return g
}

// matches says whether the group's selectors match pods of a spec.
func (g *topologyGroup) matches(s *model.PodSpec) bool {
	for _, sel := range g.selectors {
		if !sel.Matches(s.Namespace, s.Labels) {
			return false
		}
	}
	return true
}

// countsNode says whether the group counts pods on a node with these labels and
// taints.
func (g *topologyGroup) countsNode(labels func(string) (string, bool), taints []model.Taint) bool {
	for _, k := range g.keys {
		if _, ok := labels(k); !ok {
			return false
		}
	}
	return (!g.honorAffinity || selects(g.filter, labels)) &&
		(!g.honorTaints || untolerated(g.filter.Tolerations, taints) == nil)
}
