package solver

import (
	"cmp"
	"math"
	"slices"

	"spokeshave.dev/controller/core/applied"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// In a cluster so large that the budget does not let every pod look at every place, pods
// are not inserted one by one together with all others. The rest are the pods that packing
// leaves out of such a plan because of constraints between pods: they are planned in a
// second step, in the cluster as it is once the plan was carried out. In that step the nodes
// of the plan count for topology and take no pods.

// restQuestion begins the names of the questions of the second step, in Stats.Trials.
const restQuestion = "the rest: "

// planRest adds places for the rest of a plan, as many as the budget allows: the most urgent
// pods first. Pods that stay without a place are the next decision's.
func planRest(in *Input, found *outcome, log *trialLog) model.Plan {
	plan := *found.Plan
	spread := spreadsOf(in.Snapshot, &plan)
	rest := restOf(in, found, spread)
	if len(rest) == 0 {
		return plan
	}
	index := applied.NewIndex(in.Snapshot)
	first := pinned(in.Snapshot, &index, found)
	if first == nil {
		return plan
	}
	next := *in
	next.Pods = rest
	next.Snapshot = index.Snapshot(in.Snapshot, &model.Plan{Nodes: first, Existing: plan.Existing})
	for i := range first {
		next.Snapshot.Nodes[len(in.Snapshot.Nodes)+i].Allocatable = nil
	}
	for i := range first {
		addLargest(&index, next.Snapshot.Pools, &first[i])
	}
	if spread.byHost() {
		next.Blocked = blocked(len(in.Snapshot.Pools))
	}
	next.Headroom = applied.Headroom(in.Headroom, in.Snapshot, first)
	next.Costs, next.Denied = unboundedCosts(in), withoutReserved(in, first)
	log.question = restQuestion
	second := planBindable(next, func(in *Input) outcome { return relax(in, log) })
	if len(second.Unplaced) == len(rest) || spread.newDomain(&index, next.Snapshot.Nodes, second.Nodes) {
		return plan
	}
	second.explain()
	log.trials[second.trial].Won = true
	plan.Nodes = append(first, second.Nodes...)
	plan.Existing = joined(plan.Existing, second.Existing)
	plan.Unplaced = slices.DeleteFunc(slices.Clone(plan.Unplaced), func(u model.Unplaced) bool {
		_, asked := slices.BinarySearch(rest, u.Pod)
		return asked
	})
	plan.Unplaced = append(plan.Unplaced, second.Unplaced...)
	found.stats.add(second.stats)
	return plan
}

// restOf returns the pods of the second step, in the order of the snapshot; nil when the
// pods of the plan were inserted one by one. The plan's reasons are known.
func restOf(in *Input, found *outcome, spread *spreads) []int32 {
	snap := in.Snapshot
	places := len(snap.Nodes) + len(found.Nodes) + 1
	if in.Effort == 0 || !in.budget.Exceeds(len(in.Pods)*places) {
		return nil
	}
	var rest []int32
	for i := range found.Unplaced {
		if u := &found.Unplaced[i]; slices.ContainsFunc(u.Reasons, betweenPods) && !spread.counts(u.Pod) {
			rest = append(rest, u.Pod)
		}
	}
	slices.SortStableFunc(rest, func(a, b int32) int {
		return cmp.Compare(snap.Specs[snap.Pods[b].Spec].Priority, snap.Specs[snap.Pods[a].Spec].Priority)
	})
	// So many pods may each look at all nodes and at a new one for each of them.
	p := float64(places)
	most := int((math.Sqrt(p*p+4*float64(in.budget.LooksLeft())) - p) / 2)
	rest = rest[:min(len(rest), most)]
	slices.Sort(rest)
	return rest
}

// betweenPods reports whether the reason is a constraint between pods.
func betweenPods(r model.Reason) bool {
	return r.Code == model.TopologySpread || r.Code == model.PodAffinity || r.Code == model.PodAntiAffinity
}

// pinned returns the nodes of the plan with those options only that are the same as the first
// one to all constraints between pods: in the same domains, and counted by the same
// constraints. The second step takes both for granted. It returns nil when a node would then
// have fewer values than its pool's minValues, or when it has no domain yet: the NodePool
// leaves a choice of values.
func pinned(snap *model.Snapshot, index *applied.Index, found *outcome) []model.PlannedNode {
	groups := found.problem.Topology.All
	out := slices.Clone(found.Nodes)
	for i := range out {
		n := &out[i]
		pool := &snap.Pools[n.Pool]
		relaxed, first := snap.MinValuesRelaxed(n), labelOf(index.Labels(n))
		if slices.ContainsFunc(groups, func(g constraint.Group) bool { return undecided(pool, first, g.Key) }) {
			return nil
		}
		n.Options = slices.DeleteFunc(slices.Clone(n.Options), func(o model.Option) bool {
			labels := labelOf(optionLabels(index, n, &o))
			return slices.ContainsFunc(groups, func(g constraint.Group) bool {
				a, _ := labels(g.Key)
				b, _ := first(g.Key)
				return a != b || g.CountsNode(labels, pool.Taints) != g.CountsNode(first, pool.Taints)
			})
		})
		if snap.MinValuesRelaxed(n) && !relaxed {
			return nil
		}
	}
	return out
}

// undecided reports whether the pool's requirements define a label of which no value was
// chosen for a node.
func undecided(pool *model.Pool, labels func(string) (string, bool), key string) bool {
	_, chosen := labels(key)
	return !chosen && slices.ContainsFunc(pool.Requirements, func(r model.Requirement) bool { return r.Key == key })
}

func labelOf(labels map[string]string) func(string) (string, bool) {
	return func(key string) (string, bool) {
		v, ok := labels[key]
		return v, ok
	}
}

// optionLabels returns the labels of a planned node launched as the option.
func optionLabels(index *applied.Index, n *model.PlannedNode, o *model.Option) map[string]string {
	return index.Labels(&model.PlannedNode{Pool: n.Pool, Labels: n.Labels, Options: []model.Option{*o}})
}

// addLargest counts a planned node's use of its pool's limits by the largest of its options,
// of each resource, where that is more than the use of the first one.
func addLargest(index *applied.Index, pools []model.Pool, n *model.PlannedNode) {
	best := index.Type(n.Pool, n.Options[0].InstanceType)
	if best == nil {
		return
	}
	usage := pools[n.Pool].Usage
	most := model.Resources{}
	for i := range n.Options {
		if t := index.Type(n.Pool, n.Options[i].InstanceType); t != nil {
			for name, amount := range t.Capacity {
				most[name] = max(most[name], amount-best.Capacity[name])
			}
		}
	}
	usage.Add(most)
}

// blocked returns a reason for every pool: nothing is launched.
func blocked(pools int) []*model.Reason {
	out := make([]*model.Reason, pools)
	for i := range out {
		out[i] = &model.Reason{Code: model.TopologySpread, Message: "another node would be another domain for the spread constraints of pods that were planned first"}
	}
	return out
}

// unboundedCosts returns the costs without those that hold for some nodes only: the plan's
// nodes may have used them up.
func unboundedCosts(in *Input) []Costs {
	out := slices.Clone(in.Costs)
	for p := range out {
		out[p] = slices.Clone(out[p])
		for t := range out[p] {
			out[p][t] = slices.Clone(out[p][t])
			for o := range out[p][t] {
				e := &out[p][t][o]
				e.Tiers = slices.DeleteFunc(slices.Clone(e.Tiers), func(x Tier) bool { return x.Until > 0 || len(x.Shares) > 0 })
			}
		}
	}
	return out
}

// withoutReserved returns the denials, and those of reserved capacity when nodes of the plan
// may have used it up.
func withoutReserved(in *Input, nodes []model.PlannedNode) []model.Denied {
	if !slices.ContainsFunc(nodes, func(n model.PlannedNode) bool {
		return slices.ContainsFunc(n.Options, func(o model.Option) bool { return o.CapacityType == model.Reserved })
	}) {
		return in.Denied
	}
	out := slices.Clone(in.Denied)
	for p := range in.Snapshot.Pools {
		out = append(out, model.Denied{Pool: int32(p), CapacityType: model.Reserved, Reason: "used by other nodes of the same plan"})
	}
	return out
}

// joined returns the assignments with more pods, one for each node.
func joined(to, more []model.Assignment) []model.Assignment {
	out := slices.Clone(to)
	for _, m := range more {
		at := slices.IndexFunc(out, func(a model.Assignment) bool { return a.Node == m.Node })
		if at < 0 {
			out = append(out, m)
			continue
		}
		out[at].Pods = slices.Sorted(slices.Values(slices.Concat(out[at].Pods, m.Pods)))
	}
	slices.SortFunc(out, func(a, b model.Assignment) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// add counts the second step of a plan with the first one.
func (s *Stats) add(o *Stats) {
	s.Classes, s.Items, s.BinTypes, s.Packings = s.Classes+o.Classes, s.Items+o.Items, s.BinTypes+o.BinTypes, s.Packings+o.Packings
	s.Passes, s.Pivots = s.Passes+o.Passes, s.Pivots+o.Pivots
	s.Effective, s.Billed, s.Fixed, s.Waived = s.Effective+o.Effective, s.Billed+o.Billed, s.Fixed+o.Fixed, s.Waived+o.Waived
}
