package solver

import (
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
)

// Solve returns the plan with the lowest total effective cost that it finds. Pods go
// to existing nodes first, then each to the pools of the highest weight that can
// take it.
func Solve(in Input) (model.Plan, Stats) {
	log := &trialLog{budget: effort.New(len(in.Pods))}
	in.budget = log.budget
	if in.Offerings == nil {
		in.Offerings = supply.NewCache()
	}
	found := planBindable(in, func(in *Input) outcome { return relax(in, log) })
	found.explain()
	stats := *found.stats
	log.trials[found.trial].Won = true
	stats.Trials, stats.Moves, stats.Looks = log.trials, log.budget.Work(), log.budget.Looks()
	return *found.Plan, stats
}

// outcome is a plan with its statistics. The reasons of unplaced pods are filled in
// by explain, which takes about as long as packing.
type outcome struct {
	*model.Plan
	stats   *Stats
	explain func()
	// problem, hosts and options (by new node) are what the plan was written from.
	problem *problem.Problem
	hosts   []problem.Host
	options [][]int32
	// trial is the index of the plan's trial in the log.
	trial int
}

// cost returns what the new nodes cost in USD/hour: effective cost and
// Catalog.NodeCost.
func (o *outcome) cost() float64 { return o.stats.Effective + o.stats.Fixed.USD() }

// preferable reports whether a leaves out fewer of the most urgent pods than b, or
// as many at lower cost.
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

// solveWith makes a plan in which the pods with unmet host affinity are bundled; w
// is nil for a plan without bundles.
func solveWith(in *Input, required []model.PodSpec, by domains.Order, w *unmetHostAffinity) answer {
	p := problem.New(in.problem(required))
	hosts := p.Hosts()
	if w != nil {
		p.Classes = colocate(p, hosts, commit.NewBounds(p, in.Headroom).Affordable(), w)
	}
	classes, of := domains.Assign(p, hosts, by)
	p.Classes = classes
	p.SelectPackedRules()
	left := make([]int32, len(p.Classes))
	for i := range p.Classes {
		left[i] = p.Classes[i].N()
	}
	in.budget.Lower(len(p.Classes), len(hosts))
	fillHosts(p, hosts, of, left)
	out := answer{unmet: p.RejectUnmetAffinity(left)}
	a, modes := commit.Best(p, in.options(), left)
	out.modes = modes
	a.EvictUnsatisfied(hosts, of)
	out.outcome = write(p, in, a, hosts)
	for c := range p.Classes {
		if cl := &p.Classes[c]; cl.BundleSize > 0 {
			out.unplacedBundles = append(out.unplacedBundles, cl.Pods[(cl.N()-a.Left[c])*cl.BundleSize:]...)
		}
	}
	return out
}
