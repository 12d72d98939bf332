package decide

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// announcedStep makes a plan again without announced pods.
type announcedStep struct{ *decider }

// retry replaces the plan where it leaves out pods that exist: a cap or a limit may have
// been used up for pods that are still to come. The plan without announced pods is kept if
// it leaves out fewer of them; the announced pods then wait for another decision. in is
// the decision's input, wide the one that the plan was made of.
func (a *announcedStep) retry(in, wide *solver.Input) {
	left := existingLeftOut(a.s, &a.out.Plan)
	if left == 0 {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(a.pending), func(i int32) bool { return !a.s.Pods[i].Exists() })
	if len(rest) == len(a.pending) {
		return
	}
	without := *wide
	without.Pods = rest
	plan, stats := a.opts.solve(without)
	if existingLeftOut(a.s, &plan) < left {
		a.out.Plan, a.out.Stats = plan, stats
		a.pending, in.Pods = rest, rest
	}
}

// existingLeftOut returns how many pods that exist a plan leaves out.
func existingLeftOut(s *model.Snapshot, plan *model.Plan) int {
	n := 0
	for i := range plan.Unplaced {
		if s.Pods[plan.Unplaced[i].Pod].Exists() {
			n++
		}
	}
	return n
}
