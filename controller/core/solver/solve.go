package solver

import (
	"sync"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/colocate"
	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/existing"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// Solve returns the plan with the lowest total effective cost that it finds. Pods go
// to existing nodes first, then each to the pools of the highest weight that can
// take it.
func Solve(in Input) (model.Plan, Stats) {
	log := &trialLog{budget: effort.New(len(in.Pods))}
	if in.budget = log.budget; in.looks > 0 {
		in.budget.LimitLooks(in.looks)
	}
	in.work = &in.budget.Work
	if in.Offerings == nil {
		in.Offerings = supply.NewCache()
	}
	found := planBindable(in, func(in *Input) outcome { return relax(in, log) })
	found.explain()
	log.trials[found.trial].Won = true
	plan := planRest(&in, &found, log)
	stats := *found.stats
	stats.Trials, stats.Moves, stats.Looks = log.trials, log.budget.Total(), log.budget.Looks()
	return plan, stats
}

// answer is a plan, with the pods that another strategy should treat differently.
type answer struct {
	outcome
	failure colocate.Failure
	// modes are the modes in which the packing was attempted.
	modes []commit.ModeTrial
}

// solveWith makes a plan in which the pods with unmet host affinity are bundled; w
// is nil for a plan without bundles.
func solveWith(in *Input, required []model.PodSpec, by domains.Order, w *colocate.Unmet) answer {
	p := problem.New(in.problem(required))
	hosts := p.Hosts()
	launchable := sync.OnceValue(func() vec.Bits { return commit.Launchable(p, in.Headroom) })
	if w != nil {
		p.Classes = colocate.Bundle(p, hosts, launchable(), w)
	}
	classes, of := domains.Assign(p, hosts, launchable, by)
	p.Classes = classes
	p.SelectPackedRules()
	left := make([]int32, len(p.Classes))
	for i := range p.Classes {
		left[i] = p.Classes[i].N()
	}
	in.work.Lower(len(p.Classes), len(hosts))
	existing.Fill(p, hosts, of, left)
	unmet := p.RejectUnmetAffinity(left)
	a, modes := commit.Best(p, in.options(), left)
	a.EvictUnsatisfied(hosts, of)
	out := answer{outcome: write(p, in, a, hosts), modes: modes}
	out.failure = colocate.Failure{Unmet: unmet, Unplaced: out.Unplaced, Explain: out.explain}
	for c := range p.Classes {
		if cl := &p.Classes[c]; cl.BundleSize > 0 {
			out.failure.Bundles = append(out.failure.Bundles, cl.Pods[(cl.N()-a.Left[c])*cl.BundleSize:]...)
		}
	}
	return out
}
