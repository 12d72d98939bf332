package main

import (
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/random"
)

// input is a scenario as the solver wants it.
func input(s *random.Scenario) solver.Input {
	in := solver.Input{Snapshot: s.Question.Snapshot, Pods: s.Question.Pods, Effort: s.Question.Effort, Tolerance: s.Question.Tolerance}
	for _, c := range s.Policies.Costs {
		in.Costs = append(in.Costs, costs(c))
	}
	in.Headroom, in.Denied = s.Policies.Headroom, s.Policies.Denied
	return in
}

func costs(of random.Costs) solver.Costs {
	out := make(solver.Costs, len(of))
	for t := range of {
		out[t] = make([]solver.Effective, len(of[t]))
		for o, c := range of[t] {
			out[t][o] = solver.Effective{Excluded: c.Excluded, Policy: c.Policy, Reason: c.Reason}
			for _, x := range c.Tiers {
				out[t][o].Tiers = append(out[t][o].Tiers, solver.Tier{Until: x.Until, Cost: x.Cost})
			}
		}
	}
	return out
}
