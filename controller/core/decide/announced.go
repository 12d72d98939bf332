package decide

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// withoutAnnounced makes the plan again without announced pods where it leaves out pods
// that exist: a cap or a limit may have been used up for pods that are still to come. The
// new plan is kept if it leaves out fewer of them; the announced pods then wait for another
// decision. in is the decision's input, wide the one that the plan was made of.
func (d *decider) withoutAnnounced(in *solver.Input, wide solver.Input) { //nolint:gocritic // changed here
	left := d.leftOut(&d.out.Plan)
	if left == 0 {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(d.pending), func(i int32) bool { return !d.s.Pods[i].Exists() })
	if len(rest) == len(d.pending) {
		return
	}
	wide.Pods = rest
	plan, stats := d.opts.solve(wide)
	if d.leftOut(&plan) < left {
		d.out.Plan, d.out.Stats = plan, stats
		d.pending, in.Pods = rest, rest
	}
}

// leftOut returns how many pods that exist a plan leaves out.
func (d *decider) leftOut(plan *model.Plan) int {
	n := 0
	for i := range plan.Unplaced {
		if d.s.Pods[plan.Unplaced[i].Pod].Exists() {
			n++
		}
	}
	return n
}
