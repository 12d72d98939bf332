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
)

// Gains reports whether a plan for all pods that wait for a rollout (model.WaitsForRollout) needs
// so many fewer new nodes than a plan for each half of their workloads that further workloads are
// worth waiting for. It is true as well for pods of a single workload, which say nothing about
// others, and false if no new node is needed. Policies are not asked.
func Gains(s *model.Snapshot) bool {
	halves, whole := split(s)
	if len(halves[1]) == 0 {
		return len(whole) > 0
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
	return 100*nodes(whole) < gain*(nodes(halves[0])+nodes(halves[1]))
}

// split returns the pods that wait, and two halves of them: their workloads in the order in which
// they began, in turn.
func split(s *model.Snapshot) (halves [2][]int32, whole []int32) {
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
	half := make(map[string]int, len(order))
	for i, w := range order {
		half[w] = i % 2
	}
	for _, i := range whole {
		h := half[workload(&s.Pods[i])]
		halves[h] = append(halves[h], i)
	}
	return halves, whole
}

func workload(p *model.Pod) string { return p.Namespace + "/" + p.Workload }
