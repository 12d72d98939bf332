// Package rollout says whether the pods of new workloads gain by waiting for those of workloads
// that are yet to begin.
//
// One plan for all of them needs fewer nodes than a plan for each part if pods of different
// workloads can share nodes: forty Deployments that are spread over four zones need four nodes
// together, and four each apart. Where pods keep each other off their nodes, or fill the largest
// nodes by themselves, one plan has as many nodes as its parts, and a wait gains nothing.
package rollout

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

const (
	// nodePrice is added to the hourly price of every node: 1 USD. It is so high that a plan has as
	// few nodes as it can: plans at the plain prices have many small nodes or few large ones, as
	// equal prices happen to be chosen among, and their numbers tell little.
	nodePrice model.Price = 1_000_000
	// gain is the share of the nodes of the parts, in percent, below which the number of nodes of
	// the whole is a gain.
	gain = 90
	// parts is into how many parts the workloads are divided. Two say little about large
	// workloads, each of which fills nodes, and whose last nodes are not full.
	parts = 4
)

// Answer says what further workloads are worth to the pods that wait for them.
type Answer struct {
	// Gains is whether the pods gain by waiting.
	Gains bool
	// Compared is how many workloads were compared to say so. It is 0 where nothing was compared:
	// pods of a single workload, which say nothing about others, gain, and those that need no new
	// node do not.
	Compared int
}

// Ask says whether a plan for all pods that wait for a rollout (model.WaitsForRollout) needs
// so many fewer new nodes than a plan for each quarter of their workloads that further workloads are
// worth waiting for. Policies are not asked.
func Ask(s *model.Snapshot) Answer {
	divided, whole, workloads := split(s)
	if len(whole) == 0 {
		return Answer{}
	}
	priced := *s
	priced.Catalogs = slices.Clone(s.Catalogs)
	for i := range priced.Catalogs {
		priced.Catalogs[i].NodeCost += nodePrice
	}
	offerings := solver.NewOfferings()
	nodes := func(pods []int32) int {
		plan, _ := solver.Solve(solver.Input{Snapshot: &priced, Pods: pods, Effort: solver.DefaultEffort, Offerings: offerings})
		return len(plan.Nodes)
	}
	if len(s.Nodes) > 0 && nodes(whole) == 0 {
		return Answer{}
	}
	if workloads == 1 {
		return Answer{Gains: true}
	}
	priced.Nodes = full(s.Nodes)
	apart := 0
	for _, pods := range divided {
		if len(pods) > 0 {
			apart += nodes(pods)
		}
	}
	return Answer{Gains: 100*nodes(whole) < gain*apart, Compared: workloads}
}

// full returns the nodes without room for further pods. Each of the parts would take the same
// room, and so need fewer nodes than all of them together.
func full(nodes []model.Node) []model.Node {
	out := slices.Clone(nodes)
	for i := range out {
		out[i].Allocatable = nil
	}
	return out
}

// split returns the pods that wait, and parts of them: their workloads in the order in which
// they began, in turn. A part is empty when there are fewer workloads.
func split(s *model.Snapshot) (divided [parts][]int32, whole []int32, workloads int) {
	first := map[string]*model.Pod{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Held == nil || p.Held.Code != model.WaitsForRollout || !s.NeedsPlace(p) {
			continue
		}
		whole = append(whole, int32(i))
		if w := workload(p); first[w] == nil || p.Created.Before(first[w].Created) {
			first[w] = p
		}
	}
	order := make([]string, 0, len(first))
	for w := range first {
		order = append(order, w)
	}
	slices.SortFunc(order, func(a, b string) int {
		return cmp.Or(first[a].Created.Compare(first[b].Created), cmp.Compare(a, b))
	})
	part := make(map[string]int, len(order))
	for i, w := range order {
		part[w] = i % parts
	}
	for _, i := range whole {
		at := part[workload(&s.Pods[i])]
		divided[at] = append(divided[at], i)
	}
	return divided, whole, len(order)
}

func workload(p *model.Pod) string { return p.Namespace + "/" + p.Workload }
