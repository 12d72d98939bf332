package solver

import (
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/effort"
)

// Solve makes the plan of least total effective cost that it finds: pods go to
// existing nodes first, then each to the heaviest pools that can take it.
func Solve(in Input) (model.Plan, Stats) {
	log := &trialLog{budget: effort.New(len(in.Pods))}
	in.budget = log.budget
	found := planBindable(in, func(in *Input) outcome { return relax(in, log) })
	found.explain()
	stats := *found.stats
	log.trials[found.trial].Won = true
	stats.Trials, stats.Moves, stats.Looks = log.trials, log.budget.Moves(), log.budget.Looks()
	return *found.Plan, stats
}

// outcome is a plan with its statistics. What is said of the pods left out is not
// there before explain, which takes as long as packing.
type outcome struct {
	*model.Plan
	stats   *Stats
	explain func()
	// problem, hosts and options, by new node, are what the plan was written from.
	problem *problem
	hosts   []host
	options [][]int32
	// trial is the plan's place in the log.
	trial int
}

// cost is what the new nodes cost in USD/hour: effective cost and Catalog.NodeCost.
func (o *outcome) cost() float64 { return o.stats.Effective + o.stats.Fixed.USD() }

// preferable says whether a leaves out fewer of the most urgent pods than b, or
// costs less where both leave out as many.
func preferable(s *model.Snapshot, a, b outcome) bool {
	balance := map[int32]int{}
	for i := range a.Unplaced {
		balance[s.Specs[s.Pods[a.Unplaced[i].Pod].Spec].Priority]++
	}
	for i := range b.Unplaced {
		balance[s.Specs[s.Pods[b.Unplaced[i].Pod].Spec].Priority]--
	}
	for _, priority := range slices.Backward(slices.Sorted(maps.Keys(balance))) {
		if n := balance[priority]; n != 0 {
			return n < 0
		}
	}
	return a.cost() < b.cost()*(1-1e-9)
}

// solveWith makes a plan with the pods with unmet host affinity bundled; nil is for none.
func solveWith(in *Input, required []model.PodSpec, by domainOrder, w *unmetHostAffinity, like *problem) answer {
	p := newProblem(in, required, like)
	p.domainOrder = by
	hosts := p.hosts()
	if w != nil {
		p.colocate(hosts, w)
	}
	p.assignDomains(hosts)
	p.selectPackedRules()
	left := make([]int32, len(p.classes))
	for i := range p.classes {
		left[i] = p.classes[i].n()
	}
	in.budget.Lower(len(p.classes), len(hosts))
	p.fillHosts(hosts, left)
	out := answer{p: p, unmet: p.rejectUnmetAffinity(left)}
	a, modes := p.bestAttempt(left)
	out.modes = modes
	p.evictUnsatisfied(a, hosts)
	out.outcome = p.write(a, hosts)
	for c := range p.classes {
		if cl := &p.classes[c]; cl.bundleSize > 0 {
			out.unplacedBundles = append(out.unplacedBundles, cl.pods[(cl.n()-a.left[c])*cl.bundleSize:]...)
		}
	}
	return out
}

// write is the attempt in terms of the snapshot.
func (p *problem) write(a *attempt, hosts []host) outcome {
	w := &writer{p: p, a: a, next: make([]int, len(p.classes))}
	plan := model.Plan{Existing: w.existing(hosts), Nodes: w.nodes()}
	plan.Unplaced = w.unplaced()

	stats := a.stats
	stats.Pods, stats.Classes, stats.Offers = len(p.in.Pods), len(p.classes), len(p.offers)
	stats.Effective, stats.Billed, stats.Fixed = a.effective(), a.billed(), a.fixedCost()
	out := outcome{Plan: &plan, stats: &stats, explain: w.explainAll, problem: p, hosts: hosts}
	for _, n := range a.nodes {
		out.options = append(out.options, n.options)
	}
	return out
}

// writer writes the plan in terms of the snapshot.
type writer struct {
	p *problem
	a *attempt
	// next is, by class, its first pod without a place.
	next []int
	// pending are the reasons that are still to be found.
	pending []pendingReasons
	// offersByID are the offers' numbers, once explain has asked for one.
	offersByID map[offerID]int32
}

// pods are the next pods of the classes taken.
func (w *writer) pods(takes []classCount) []int32 {
	n := int32(0)
	for _, t := range takes {
		n += t.n * max(1, w.p.classes[t.class].bundleSize)
	}
	out := make([]int32, 0, n)
	for _, t := range takes {
		from := w.next[t.class]
		w.next[t.class] += int(t.n * max(1, w.p.classes[t.class].bundleSize))
		out = append(out, w.p.classes[t.class].pods[from:w.next[t.class]]...)
	}
	return out
}

func (w *writer) existing(hosts []host) []model.Assignment {
	var out []model.Assignment
	for i := range hosts {
		if len(hosts[i].placed) > 0 {
			out = append(out, model.Assignment{Node: hosts[i].node, Pods: w.pods(hosts[i].placed)})
		}
	}
	return out
}

func (w *writer) nodes() []model.PlannedNode {
	out := make([]model.PlannedNode, len(w.a.nodes))
	options := map[*int32][]model.Option{} // nodes of equal options share them
	for i, n := range w.a.nodes {
		key := &n.options[0]
		if len(options[key]) != len(n.options) {
			options[key] = w.options(n)
		}
		requests := w.p.daemonRequests(w.p.offers[n.options[0]].shape)
		for r, amount := range n.demand[:w.p.dims.n()] {
			if amount > 0 {
				requests[w.p.dims.names[r]] += amount
			}
		}
		ln := &w.p.templates[n.template]
		out[i] = model.PlannedNode{
			Pool: ln.pool, Pods: w.pods(n.placed), Labels: maps.Clone(ln.variantLabels), Requests: requests, Options: options[key],
		}
	}
	return out
}

func (w *writer) options(n *planned) []model.Option {
	out := make([]model.Option, len(n.options))
	for i, o := range n.options {
		f := &w.p.offers[o]
		s := &w.p.keys.keys[f.key]
		out[i] = model.Option{
			InstanceType: w.p.offerType(o).Name, Zone: s.zone, CapacityType: model.CapacityType(s.capacityType),
			Price: f.price, Effective: w.p.optionCost(n, i),
		}
	}
	return out
}
