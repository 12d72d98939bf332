package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// The solver fills the remaining nodes with the largest pods first. When one
// resource of a node is used up, what is left of the others is unused. If new nodes
// are needed in any case, it can be cheaper to fill the remaining nodes evenly in
// all resources and to launch nodes for the rest.

// balancedFillLimit bounds the work of balancedFill, in nodes times distinct pod
// specs.
const balancedFillLimit = 2_000_000

// balancedFill returns a variant of the proposal in which each remaining node is
// filled by the pods whose requests match its free resources best. It returns nil
// when the variant is not cheaper, or when anything but requests, taints and node
// labels decides where the pods may run.
func (c *consolidator) balancedFill(p *Proposal) *Proposal {
	waiting := c.bySpec(p.Sim.Input.Pods)
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
	r := newCapacityIndex(c.projection.specIndex(), snap, moving)
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
	if len(plan.Existing) == 0 || len(left) == 0 { // the solver would have found that plan
		return nil
	}
	slices.Sort(left)
	if q := c.withNewNodesFor(p, plan, left); q != nil && q.Saves() > p.Saves() {
		return q
	}
	return nil
}

// podsOfSpec is a group of pods with the same spec.
type podsOfSpec struct {
	spec int32
	pods []int32
}

// bySpec groups pods by spec. It returns nil when anything but requests, taints and
// node labels restricts or ranks the nodes for one of the pods.
func (c *consolidator) bySpec(pods []int32) []podsOfSpec {
	at := map[int32]int{}
	var out []podsOfSpec
	for _, i := range pods {
		spec := c.projection.snap.Pods[i].Spec
		k, ok := at[spec]
		if !ok {
			s := &c.projection.snap.Specs[spec]
			if len(s.Spread)+len(s.PodAffinity)+len(s.PodAntiAffinity)+len(s.HostPorts)+len(s.Unsupported) > 0 {
				return nil
			}
			if !c.projection.snap.Settings.IgnorePreferences && len(s.Preferred)+len(s.PreferredPods)+len(s.PreferredApart) > 0 {
				return nil
			}
			k, at[spec] = len(out), len(out)
			out = append(out, podsOfSpec{spec: spec})
		}
		out[k].pods = append(out[k].pods, i)
	}
	return out
}

// blockedByAntiAffinity reports whether an anti-affinity term of a pod that stays
// matches one of the waiting pods.
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

// hasSoftTaint reports whether the node has a PreferNoSchedule taint.
func hasSoftTaint(n *model.Node) bool {
	return slices.ContainsFunc(n.Taints, func(t model.Taint) bool { return t.Effect == model.PreferNoSchedule })
}

// reserveDaemons deducts the requests of DaemonSet pods that are not on their nodes
// yet.
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
			if r.s.Nodes[i].Admits(&set.Spec) && !slices.ContainsFunc(running[i], func(p int32) bool { return set.Owns(&r.s.Pods[p]) }) {
				add(r.free[i], requests, -1)
			}
		}
	}
}

// fillNode assigns pods to a node, one at a time, each of the spec that matches the
// node's free resources best. It removes them from waiting and returns them.
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

// demand returns the sum of the pods' requests per resource.
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

// dotProduct is the product of free resources and request, each as a share of the
// demand (Panigrahy, Talwar, Uyeda and Wieder, Heuristics for Vector Bin Packing,
// 2011). It is large when the request is large in the resources that the node has
// much of.
func dotProduct(free, request []int64, demand []float64) float64 {
	sum := 0.0
	for d, n := range request {
		if n > 0 {
			sum += float64(free[d]) / demand[d] * float64(n) / demand[d]
		}
	}
	return sum
}
