package decide

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
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
//
// Costs in which other policies have a part cannot be compared with those of the decision.
// When a policy fails that did not before, such as by taking too long
// ([policy.Panel.RankAgain]), the costs of its NodePools are unknown in the clusters that are asked
// about from then on.
type recostStep struct {
	rankStep
	ctx context.Context //nolint:containedctx // of one decision, whose search has none

	// counting are the pools whose costs depend on what runs; nil before the first question.
	counting []int
	// asked are the answers, by what is different from the snapshot.
	asked map[string]recosted
	// failed says, by pool, why no more is asked about it.
	failed map[int]string
}

// recosted are the costs of a cluster, and why those of a pool are not known; nil when all are.
type recosted struct {
	costs   []solver.Costs
	unknown []string
}

// costs returns the costs by pool in a cluster of these nodes without those that gone
// marks. The nodes begin with those of the snapshot. Where costs are unknown, nothing can be
// launched.
func (d *recostStep) costs(nodes []model.Node, gone []bool) (costs []solver.Costs, unknown []string) {
	if d.asked == nil {
		d.asked = map[string]recosted{}
		d.findCounting()
	}
	if len(d.counting) == 0 {
		return d.in.Costs, nil
	}
	key := d.difference(nodes, gone)
	if out, ok := d.asked[key]; ok {
		return out.costs, out.unknown
	}
	use, out := usageOf(len(d.s.Pools), nodes, gone), recosted{costs: slices.Clone(d.in.Costs)}
	for _, pool := range d.counting {
		if out.costs[pool] = d.ask(pool, use); out.costs[pool] == nil {
			if out.unknown == nil {
				out.unknown = make([]string, len(d.s.Pools))
			}
			out.costs[pool], out.unknown[pool] = d.excluded(pool), d.failed[pool]
		}
	}
	d.asked[key] = out
	return out.costs, out.unknown
}

// ask returns a pool's costs where so much is in use. It returns nil when other policies fail
// than for the decision's costs, now or before.
func (d *recostStep) ask(pool int, use *usage) solver.Costs {
	if d.failed[pool] != "" {
		return nil
	}
	p := &d.s.Pools[pool]
	rows, in := d.question(pool, use)
	out := d.panel.RankAgain(d.ctx, p, in)
	if out.Refused != nil || !slices.Equal(out.Failed, d.failedBefore(pool)) {
		d.note(pool, &out)
		return nil
	}
	return d.rankStep.costs(&d.s.Catalogs[p.Catalog], rows, &out)
}

// excluded are the costs of a pool in which nothing can be launched.
func (d *recostStep) excluded(pool int) solver.Costs {
	types := d.s.Catalogs[d.s.Pools[pool].Catalog].Types
	out := make(solver.Costs, len(types))
	for t := range types {
		out[t] = slices.Repeat([]solver.Effective{{Excluded: true, Reason: d.failed[pool]}}, len(types[t].Offerings))
	}
	return out
}

// note notes which policy has failed, now or when the decision's costs were asked.
func (d *recostStep) note(pool int, out *policy.RankOutcome) {
	if d.failed == nil {
		d.failed = map[int]string{}
	}
	before := d.failedBefore(pool)
	d.failed[pool] = "not known what nodes would cost in a smaller cluster"
	for _, name := range before {
		if !slices.Contains(out.Failed, name) {
			d.failed[pool] += ": policy " + name + " failed when this decision's costs were asked"
			return
		}
	}
	for _, name := range out.Failed {
		if !slices.Contains(before, name) {
			d.failed[pool] += ": policy " + name + " did not say"
			return
		}
	}
	if out.Refused != nil {
		d.failed[pool] += ": policy " + out.Refused.Policy + " did not say"
	}
}

// failedBefore are the policies that failed when the decision's costs of a pool were asked.
func (d *recostStep) failedBefore(pool int) []string {
	for i := range d.out.Ranked {
		if r := &d.out.Ranked[i]; int(r.Pool) == pool {
			return r.Outcome.Failed
		}
	}
	return nil
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
		if costs := d.ask(i, nothing); costs == nil || !reflect.DeepEqual(costs, d.in.Costs[i]) {
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
