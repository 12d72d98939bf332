package decide

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/controller/core/spend"
)

// namespaceCap is what a cap leaves to one namespace. A namespace uses shares of
// nodes rather than whole nodes, so this package applies its caps pod by pod after
// solving, and the solver does not know them.
type namespaceCap struct {
	namespace, policy, bound string
	left                     model.Price
}

// namespaceRounds is how many times a plan is solved again because a namespace
// exceeds its cap. After the last round no pod of that namespace gets a new node.
const namespaceRounds = 3

// namespaceStep keeps the plan under the caps of namespaces.
type namespaceStep struct{ *decider }

// apply removes pods from the plan whose share of the nodes to launch, at
// the worst price of their options, exceeds what their namespace may still spend.
// Pods of higher priority are kept first.
func (d *namespaceStep) apply(ctx context.Context, in *solver.Input) {
	if len(d.namespaceCaps) == 0 {
		return
	}
	var held []model.Unplaced
	for round := 0; ; round++ {
		d.dropDearNamespaceOptions()
		over := d.overNamespaceCaps(round)
		if len(over) == 0 {
			break
		}
		held = append(held, over...)
		out := map[int32]bool{}
		for i := range held {
			out[held[i].Pod] = true
		}
		in.Pods = slices.DeleteFunc(slices.Clone(d.pending), func(p int32) bool { return out[p] })
		d.out.Plan, d.out.Stats = d.opts.solve(*in)
		(&reviewStep{d.decider}).review(ctx, in)
	}
	for i := range held {
		d.unplace([]int32{held[i].Pod}, held[i].Reasons[0])
	}
	taken := d.existing()
	for p, cost := range d.podCosts(&d.out.Plan) {
		taken[d.s.Pods[p].Namespace] += cost
	}
	for i := range d.namespaceCaps { // the rest is available to replacements
		d.namespaceCaps[i].left = max(0, d.namespaceCaps[i].left-taken[d.namespaceCaps[i].namespace])
	}
}

// dropDearNamespaceOptions applies when the plan exceeds a namespace's cap: it
// leaves each planned node only the options on which the namespace's share costs
// least. Nodes of pools with a MinValues requirement keep all their options.
func (d *namespaceStep) dropDearNamespaceOptions() {
	costs, taken := d.podCosts(&d.out.Plan), d.existing()
	for _, space := range d.namespaceCaps {
		sum := taken[space.namespace]
		for p, cost := range costs {
			if d.s.Pods[p].Namespace == space.namespace {
				sum += cost
			}
		}
		if sum <= space.left {
			continue
		}
		for i := range d.out.Plan.Nodes {
			n := &d.out.Plan.Nodes[i]
			if !slices.ContainsFunc(d.s.Pools[n.Pool].Requirements, func(r model.Requirement) bool { return r.MinValues > 0 }) {
				n.Options = d.cheapest(n, space.namespace)
			}
		}
	}
}

// cheapest returns the options of a node on which a namespace's share costs least.
func (d *namespaceStep) cheapest(n *model.PlannedNode, namespace string) []model.Option {
	if len(n.Options) < 2 {
		return n.Options
	}
	costs := make([]model.Price, len(n.Options))
	for i := range n.Options {
		one := *n
		one.Options = n.Options[i : i+1]
		for p, cost := range d.nodeCosts(&one) {
			if d.s.Pods[p].Namespace == namespace {
				costs[i] += cost
			}
		}
	}
	least := slices.Min(costs)
	var out []model.Option
	for i := range n.Options {
		if costs[i] == least {
			out = append(out, n.Options[i])
		}
	}
	return out
}

// existing returns by namespace the price of the existing capacity that the plan's
// pods take. No cap keeps a pod off an existing node, but what it takes there is no
// longer left for launches.
func (d *namespaceStep) existing() map[string]model.Price {
	out := map[string]model.Price{}
	for i := range d.out.Plan.Existing {
		to := &d.out.Plan.Existing[i]
		for namespace, more := range d.present().Takes(to.Pods, to.Node) {
			out[namespace] += more
		}
	}
	return out
}

// present returns which pod uses which node. The first call computes it.
func (d *namespaceStep) present() *spend.Presence {
	if d.presence == nil {
		d.presence = spend.NewPresence(d.s)
	}
	return d.presence
}

// overNamespaceCaps returns the pods to remove from the plan. In the last round it
// returns every pod of a namespace that is over its cap.
func (d *namespaceStep) overNamespaceCaps(round int) []model.Unplaced {
	var out []model.Unplaced
	costs, taken := d.podCosts(&d.out.Plan), d.existing()
	for _, space := range d.namespaceCaps {
		space.left = max(0, space.left-taken[space.namespace])
		limit := namespaceAllowance{namespaceCap: space, kept: space.left}
		var pods []int32
		for p := range costs {
			if d.s.Pods[p].Namespace == limit.namespace {
				pods = append(pods, p)
			}
		}
		slices.SortFunc(pods, func(a, b int32) int {
			return cmp.Or(cmp.Compare(d.priority(b), d.priority(a)), cmp.Compare(a, b))
		})
		if round == namespaceRounds {
			limit.kept = 0
		}
		out = append(out, d.overLimit(limit, pods, costs)...)
	}
	slices.SortFunc(out, func(a, b model.Unplaced) int { return cmp.Compare(a.Pod, b.Pod) })
	return slices.CompactFunc(out, func(a, b model.Unplaced) bool { return a.Pod == b.Pod })
}

func (d *namespaceStep) priority(pod int32) int32 { return d.s.Specs[d.s.Pods[pod].Spec].Priority }

// namespaceAllowance is a cap with kept, the part of what is left that pods may use.
type namespaceAllowance struct {
	namespaceCap
	kept model.Price
}

func (d *namespaceStep) overLimit(limit namespaceAllowance, pods []int32, costs map[int32]model.Price) []model.Unplaced {
	sum := model.Price(0)
	for _, p := range pods {
		sum += costs[p]
	}
	if sum <= limit.left {
		return nil
	}
	var out []model.Unplaced
	taken := model.Price(0)
	for _, p := range pods {
		if taken+costs[p] <= limit.kept {
			taken += costs[p]
			continue
		}
		others := ""
		if taken > 0 {
			others = fmt.Sprintf(", of which pods before it take %s $/h", taken)
		}
		out = append(out, model.Unplaced{Pod: p, Reasons: []model.Reason{{
			Code: model.CeilingReached, Policy: limit.policy, Scope: "namespace/" + limit.namespace, Short: taken + costs[p] - max(0, limit.kept),
			Message: fmt.Sprintf("policy %s caps namespace %s at %s, which leaves %s $/h%s; the pod's share of a new node costs %s $/h",
				limit.policy, limit.namespace, limit.bound, limit.left, others, costs[p]),
		}}})
	}
	return out
}

// podCosts returns the pods' shares of the planned nodes' hourly prices. Each share
// is the highest over the node's options: on a smaller instance the same pod has a
// larger share. For a pod that is on a node now, its share of that node is deducted.
func (d *namespaceStep) podCosts(plan *model.Plan) map[int32]model.Price {
	out := map[int32]model.Price{}
	for i := range plan.Nodes {
		for p, cost := range d.nodeCosts(&plan.Nodes[i]) {
			out[p] = max(0, cost-d.present().Holds(p))
		}
	}
	return out
}

func (d *namespaceStep) nodeCosts(n *model.PlannedNode) map[int32]model.Price {
	out := map[int32]model.Price{}
	types := d.s.Catalogs[d.s.Pools[n.Pool].Catalog].Types
	for _, o := range n.Options {
		at := slices.IndexFunc(types, func(t model.InstanceType) bool { return t.Name == o.InstanceType })
		if at < 0 {
			continue
		}
		shares := spend.PodShares(d.s, n.Pool, o.Price+d.s.NodeCost(n.Pool), types[at].Allocatable, n.Pods)
		for j, p := range n.Pods {
			out[p] = max(out[p], shares[j])
		}
	}
	return out
}

// affordable reports whether the namespaces' caps allow what the proposal's
// replacements cost their pods beyond the nodes they leave. If so, it deducts that
// from the caps. If not, it returns the policy and the reason.
func (j *disrupter) affordable(p *disrupt.Proposal) (ok bool, name, reason string) {
	if len(j.namespaceCaps) == 0 || len(p.Sim.Plan.Nodes) == 0 {
		return true, "", ""
	}
	more := map[string]model.Price{}
	for i := range p.Sim.Plan.Nodes {
		of := map[string]model.Price{}
		for pod, cost := range (&namespaceStep{j.decider}).nodeCosts(&p.Sim.Plan.Nodes[i]) {
			of[j.s.Pods[pod].Namespace] += cost - (&namespaceStep{j.decider}).present().Holds(pod)
		}
		for namespace, cost := range of {
			more[namespace] += max(0, cost)
		}
	}
	for i := range j.namespaceCaps {
		if space := &j.namespaceCaps[i]; more[space.namespace] > space.left {
			return false, space.policy, fmt.Sprintf("policy %s caps namespace %s at %s, which leaves %s $/h; its share of the replacement costs %s $/h more",
				space.policy, space.namespace, space.bound, space.left, more[space.namespace])
		}
	}
	for i := range j.namespaceCaps {
		j.namespaceCaps[i].left -= max(0, more[j.namespaceCaps[i].namespace])
	}
	return true, "", ""
}
