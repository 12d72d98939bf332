package solver

import (
	"slices"

	"spokeshave.dev/controller/core/applied"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// The scheduler may bind the pods of both steps in any order. A pod with a spread constraint
// can then be bound in the domain that the first step found for it only if the second step
// neither adds pods that the constraint counts nor domains. (Affinity and anti-affinity are
// kept in both directions by the second step itself.)

// spreads are the hard spread constraints of the pods that a plan places.
type spreads struct {
	snap *model.Snapshot
	// specs are those with such constraints.
	specs []int32
}

func spreadsOf(snap *model.Snapshot, plan *model.Plan) *spreads {
	out := &spreads{snap: snap}
	seen := make([]bool, len(snap.Specs))
	note := func(pods []int32) {
		for _, i := range pods {
			spec := snap.Pods[i].Spec
			if !seen[spec] && slices.ContainsFunc(snap.Specs[spec].Spread, func(s model.Spread) bool { return !s.Soft }) {
				out.specs = append(out.specs, spec)
			}
			seen[spec] = true
		}
	}
	for i := range plan.Nodes {
		note(plan.Nodes[i].Pods)
	}
	for i := range plan.Existing {
		note(plan.Existing[i].Pods)
	}
	return out
}

// each calls f with every constraint and its spec, until f returns true, and reports whether
// it did.
func (x *spreads) each(f func(spec int32, s *model.Spread) bool) bool {
	for _, spec := range x.specs {
		for i := range x.snap.Specs[spec].Spread {
			if s := &x.snap.Specs[spec].Spread[i]; !s.Soft && f(spec, s) {
				return true
			}
		}
	}
	return false
}

// counts reports whether a constraint of a pod of another spec counts the pod. The second
// step keeps those of the pod's own spec.
func (x *spreads) counts(pod int32) bool {
	own := x.snap.Pods[pod].Spec
	p := &x.snap.Specs[own]
	return x.each(func(spec int32, s *model.Spread) bool {
		return spec != own && s.Selector.Matches(p.Namespace, p.Labels)
	})
}

// byHost reports whether one of the constraints is by hostname: every node is a domain.
func (x *spreads) byHost() bool {
	return x.each(func(_ int32, s *model.Spread) bool { return s.Key == constraint.LabelHostname })
}

// newDomain reports whether one of the nodes may be in a domain in which none of the nodes
// before is.
func (x *spreads) newDomain(index *applied.Index, before []model.Node, nodes []model.PlannedNode) bool {
	return x.each(func(_ int32, s *model.Spread) bool {
		known := map[string]bool{"": true}
		for i := range before {
			known[before[i].Labels[s.Key]] = true
		}
		return slices.ContainsFunc(nodes, func(n model.PlannedNode) bool {
			return slices.ContainsFunc(n.Options, func(o model.Option) bool { return !known[optionLabels(index, &n, &o)[s.Key]] })
		})
	})
}
