package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// The solver fills the nodes that stay with the largest pods first, and what is
// left of one resource there when the other is used up is lost. Where new nodes
// are needed besides, it pays to fill the nodes that stay evenly, and to launch
// for the rest.

// balancedFillLimit bounds that, in nodes times kinds of pods.
const balancedFillLimit = 2_000_000

// balancedFill is the proposal with every node that stays filled by the pods whose
// requests are most like the room that it has; nil when that is not cheaper, or
// when more than requests decides which pods may be together.
func (sc *Scene) balancedFill(p *Proposal) *Proposal {
	waiting := sc.bySpec(p.Sim.Input.Pods)
	snap := p.Sim.Input.Snapshot
	if len(p.Sim.Plan.Nodes) == 0 || waiting == nil || len(snap.Nodes)*len(waiting) > balancedFillLimit {
		return nil
	}
	moving := make([]bool, len(snap.Pods))
	for _, i := range p.Sim.Input.Pods {
		moving[i] = true
	}
	if blockedByAntiAffinity(snap, waiting, moving) {
		return nil
	}
	r := newCapacityIndex(sc.specIndex(), snap, moving)
	r.reserveDaemons()
	demand := r.demand(p.Sim.Input.Pods)
	plan := &model.Plan{}
	for i := range snap.Nodes {
		if r.tree[i] < 0 || !snap.Settings.IgnorePreferences && hasSoftTaint(&snap.Nodes[i]) {
			continue
		}
		if pods := r.fillNode(int32(i), waiting, demand); len(pods) > 0 {
			slices.Sort(pods)
			plan.Existing = append(plan.Existing, model.Assignment{Node: int32(i), Pods: pods})
		}
	}
	var left []int32
	for i := range waiting {
		left = append(left, waiting[i].pods...)
	}
	if len(plan.Existing) == 0 || len(left) == 0 { // the solver would have found that
		return nil
	}
	slices.Sort(left)
	if q := sc.withNewNodesFor(p, plan, left); q != nil && q.Saves() > p.Saves() {
		return q
	}
	return nil
}

// podsOfSpec are pods of one spec.
type podsOfSpec struct {
	spec int32
	pods []int32
}

// bySpec sorts pods by spec; nil when something besides requests, taints and
// labels of nodes says where one of them may run, or had better run.
func (sc *Scene) bySpec(pods []int32) []podsOfSpec {
	at := map[int32]int{}
	var out []podsOfSpec
	for _, i := range pods {
		spec := sc.snap.Pods[i].Spec
		k, ok := at[spec]
		if !ok {
			s := &sc.snap.Specs[spec]
			if len(s.Spread)+len(s.PodAffinity)+len(s.PodAntiAffinity)+len(s.HostPorts)+len(s.Unsupported) > 0 {
				return nil
			}
			if !sc.snap.Settings.IgnorePreferences && len(s.Preferred)+len(s.PreferredPods)+len(s.PreferredApart) > 0 {
				return nil
			}
			k, at[spec] = len(out), len(out)
			out = append(out, podsOfSpec{spec: spec})
		}
		out[k].pods = append(out[k].pods, i)
	}
	return out
}

// blockedByAntiAffinity says whether a pod that stays keeps one of those that move off its domain.
func blockedByAntiAffinity(s *model.Snapshot, waiting []podsOfSpec, moving []bool) bool {
	seen := make([]bool, len(s.Specs))
	for i := range s.Pods {
		at := s.Pods[i].Spec
		if moving[i] || s.Pods[i].Node < 0 || seen[at] {
			continue
		}
		seen[at] = true
		for t := range s.Specs[at].PodAntiAffinity {
			who := &s.Specs[at].PodAntiAffinity[t].Selector
			if slices.ContainsFunc(waiting, func(w podsOfSpec) bool { return who.Matches(s.Specs[w.spec].Namespace, s.Specs[w.spec].Labels) }) {
				return true
			}
		}
	}
	return false
}

// hasSoftTaint says whether pods had better keep off the node.
func hasSoftTaint(n *model.Node) bool {
	return slices.ContainsFunc(n.Taints, func(t model.Taint) bool { return t.Effect == model.PreferNoSchedule })
}

// reserveDaemons keeps room for the pods of DaemonSets that are not on their nodes yet.
func (r *capacityIndex) reserveDaemons() {
	if len(r.s.Daemons) == 0 {
		return
	}
	running := make([][]int32, len(r.s.Nodes))
	for i := range r.s.Pods {
		if p := &r.s.Pods[i]; p.Daemon && p.Node >= 0 {
			running[p.Node] = append(running[p.Node], int32(i))
		}
	}
	for d := range r.s.Daemons {
		set := &r.s.Daemons[d]
		requests := r.vector(set.Spec.Requests)
		for i := range r.s.Nodes {
			if r.s.Nodes[i].Admits(&set.Spec) && !slices.ContainsFunc(running[i], func(p int32) bool { return solver.Owns(set, &r.s.Pods[p]) }) {
				add(r.free[i], requests, -1)
			}
		}
	}
}

// fillNode takes pods for a node, one by one the kind most like the room that is left.
func (r *capacityIndex) fillNode(node int32, waiting []podsOfSpec, demand []float64) (pods []int32) {
	for {
		best, most := -1, 0.0
		for k := range waiting {
			w := &waiting[k]
			if len(w.pods) == 0 || !holds(r.free[node], r.requests[w.spec]) || !slices.Contains(r.admittingKinds(w.spec), r.tree[node]) {
				continue
			}
			if l := dotProduct(r.free[node], r.requests[w.spec], demand); best < 0 || l > most {
				best, most = k, l
			}
		}
		if best < 0 {
			return pods
		}
		w := &waiting[best]
		last := len(w.pods) - 1
		pods = append(pods, w.pods[last])
		w.pods = w.pods[:last]
		add(r.free[node], r.requests[w.spec], -1)
	}
}

// demand is what the pods request of each resource.
func (r *capacityIndex) demand(pods []int32) []float64 {
	sum := make([]int64, len(r.dims))
	for _, p := range pods {
		add(sum, r.requests[r.s.Pods[p].Spec], 1)
	}
	out := make([]float64, len(sum))
	for d, n := range sum {
		out[d] = float64(n)
	}
	return out
}

// dotProduct is the product of room and request, each resource in shares of the
// demand (Panigrahy, Talwar, Uyeda and Wieder, Heuristics for Vector Bin Packing,
// 2011): large for a large request that wants what there is much of.
func dotProduct(free, request []int64, demand []float64) float64 {
	sum := 0.0
	for d, n := range request {
		if n > 0 {
			sum += float64(free[d]) / demand[d] * float64(n) / demand[d]
		}
	}
	return sum
}
