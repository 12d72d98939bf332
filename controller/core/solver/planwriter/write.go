package planwriter

import (
	"maps"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
)

// Write returns an attempt's plan in terms of the snapshot. The reasons of unplaced
// pods are filled in by explain, which takes about as long as packing. blocked says,
// by pool, why nothing may be launched from it; headroom is that of the question.
func Write(p *problem.Problem, a *commit.Attempt, hosts []problem.Host, blocked []*model.Reason, headroom []model.Headroom) (plan *model.Plan, explain func()) {
	w := &writer{p: p, a: a, next: make([]int, len(p.Classes))}
	plan = &model.Plan{Existing: w.existing(hosts), Nodes: w.nodes()}
	x := &explainer{p: p, b: a.Bounds, blocked: blocked, headroom: headroom}
	plan.Unplaced = x.unplaced(w.next)
	return plan, x.explain
}

// writer translates an attempt into indexes of the snapshot.
type writer struct {
	p *problem.Problem
	a *commit.Attempt
	// next is, by class, the index of its first pod without a place.
	next []int
}

// pods takes the next pods of the given classes and returns their indexes.
func (w *writer) pods(takes []problem.ClassCount) []int32 {
	n := int32(0)
	for _, t := range takes {
		n += t.N * max(1, w.p.Classes[t.Class].BundleSize)
	}
	out := make([]int32, 0, n)
	for _, t := range takes {
		from := w.next[t.Class]
		w.next[t.Class] += int(t.N * max(1, w.p.Classes[t.Class].BundleSize))
		out = append(out, w.p.Classes[t.Class].Pods[from:w.next[t.Class]]...)
	}
	return out
}

func (w *writer) existing(hosts []problem.Host) []model.Assignment {
	var out []model.Assignment
	for i := range hosts {
		if len(hosts[i].Placed) > 0 {
			out = append(out, model.Assignment{Node: hosts[i].Node, Pods: w.pods(hosts[i].Placed)})
		}
	}
	return out
}

func (w *writer) nodes() []model.PlannedNode {
	out := make([]model.PlannedNode, len(w.a.Nodes))
	options := map[*int32][]model.Option{} // nodes with equal options share one list
	for i, n := range w.a.Nodes {
		key := &n.Options[0]
		if len(options[key]) != len(n.Options) {
			options[key] = Options(w.p, w.a, n)
		}
		requests := w.p.Supply.DaemonRequests(w.p.Supply.Offers[n.Options[0]].Shape)
		for r, amount := range n.Demand[:w.p.Supply.Dims.N()] {
			if amount > 0 {
				requests[w.p.Supply.Dims.Names[r]] += amount
			}
		}
		w.addRare(requests, n)
		ln := &w.p.Supply.Templates[n.Template]
		out[i] = model.PlannedNode{
			Pool: ln.Pool, Pods: w.pods(n.Placed), Labels: maps.Clone(ln.VariantLabels), Requests: requests, Options: options[key],
		}
	}
	return out
}

// addRare adds the rare resources that the pods of a node request, in place of the number
// that stands for them.
func (w *writer) addRare(requests model.Resources, n *commit.Node) {
	rare := w.p.Supply.Dims.Rare
	if len(rare) == 0 {
		return
	}
	delete(requests, supply.RareName)
	for _, t := range n.Placed {
		for _, name := range rare {
			if amount := w.p.Classes[t.Class].Spec.Requests[name]; amount > 0 {
				requests[name] += amount * int64(t.N)
			}
		}
	}
}

// Options returns what a node of an attempt may be launched as.
func Options(p *problem.Problem, a *commit.Attempt, n *commit.Node) []model.Option {
	out := make([]model.Option, len(n.Options))
	for i, o := range n.Options {
		f := &p.Supply.Offers[o]
		s := &p.Supply.Keys.Keys[f.Key]
		out[i] = model.Option{
			InstanceType: p.Supply.OfferType(o).Name, Zone: s.Zone, CapacityType: model.CapacityType(s.CapacityType),
			Price: f.Price, Effective: a.OptionCost(n, i),
		}
	}
	return out
}
