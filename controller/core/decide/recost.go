package decide

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// recostStep asks the rank policies what offerings would cost if some nodes did not exist.
//
// A policy may count what runs: reserved instances that are in use are not offered again,
// and where enough nodes are on demand, the next one is dear. The costs of a decision are
// those of one node more. To judge whether a node should go, the search needs those of the
// cluster without it, for the node itself and for what would take its place: by today's
// costs the last of two reserved instances is as dear as a third, so that it would be
// replaced, offered again, bought again, and replaced again.
type recostStep struct {
	rankStep
	ctx context.Context //nolint:containedctx // of one decision, whose search has none

	// counting are the pools whose costs depend on what runs; nil before the first question.
	counting []int
	// asked are the answers, by what is different from the snapshot.
	asked map[string][]solver.Costs
}

// costs returns the costs by pool in a cluster of these nodes without those that gone
// marks. The nodes begin with those of the snapshot.
func (d *recostStep) costs(nodes []model.Node, gone []bool) []solver.Costs {
	if d.asked == nil {
		d.asked = map[string][]solver.Costs{}
		d.findCounting()
	}
	if len(d.counting) == 0 {
		return d.in.Costs
	}
	key := d.difference(nodes, gone)
	if out, ok := d.asked[key]; ok {
		return out
	}
	use, out := usageOf(len(d.s.Pools), nodes, gone), slices.Clone(d.in.Costs)
	for _, pool := range d.counting {
		if costs := d.ask(pool, use); costs != nil {
			out[pool] = costs
		}
	}
	d.asked[key] = out
	return out
}

// ask returns a pool's costs where so much is in use; nil when a policy gives no answer.
func (d *recostStep) ask(pool int, use *usage) solver.Costs {
	p := &d.s.Pools[pool]
	rows, in := d.question(pool, use)
	out := d.panel.Rank(d.ctx, p, in)
	if out.Refused != nil {
		return nil
	}
	return d.rankStep.costs(&d.s.Catalogs[p.Catalog], rows, &out)
}

// findCounting finds the pools whose costs depend on what runs: they would be others if
// nothing did, or hold for a number of nodes only.
func (d *recostStep) findCounting() {
	nothing := usageOf(len(d.s.Pools), nil, nil)
	for i := range d.s.Pools {
		if p := &d.s.Pools[i]; p.Catalog < 0 || p.NotReady != "" || d.in.Costs[i] == nil || d.in.Blocked[i] != nil {
			continue
		}
		if bounded(d.in.Costs[i]) {
			d.counting = append(d.counting, i)
			continue
		}
		if costs := d.ask(i, nothing); costs != nil && !reflect.DeepEqual(costs, d.in.Costs[i]) {
			d.counting = append(d.counting, i)
		}
	}
}

// bounded reports whether the cost of some offering holds for a number of nodes only.
func bounded(costs solver.Costs) bool {
	for t := range costs {
		for o := range costs[t] {
			if slices.ContainsFunc(costs[t][o].Tiers, func(t solver.Tier) bool { return t.Until != 0 || len(t.Shares) > 0 }) {
				return true
			}
		}
	}
	return false
}

// difference names the nodes that are gone and those that the snapshot lacks. Nodes of one
// offering of a pool have one name.
func (d *recostStep) difference(nodes []model.Node, gone []bool) string {
	var names []string
	for i := range nodes {
		n := &nodes[i]
		switch added := i >= len(d.s.Nodes); {
		case added == gone[i] || n.Pool < 0:
		case added:
			names = append(names, fmt.Sprint("+", n.Pool, " ", n.InstanceType, " ", n.Zone, " ", n.CapacityType))
		default:
			names = append(names, fmt.Sprint("-", n.Pool, " ", n.InstanceType, " ", n.Zone, " ", n.CapacityType, " ", d.s.Nodes[i].State))
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}
