package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/planwriter"
)

// widen adds options to nodes on spot, unless the scheduler would then not bind every pod.
// It moves no pod, and the first option of each node stays.
func (o *outcome) widen(in *Input) {
	if in.SpotTolerance <= in.Tolerance {
		return
	}
	narrow, plan := *o, *o.Plan
	o.Plan, o.options, plan.Nodes = &plan, slices.Clone(o.options), slices.Clone(plan.Nodes)
	shared := map[*int32]int{} // equal nodes share one list
	changed := false
	for i := range o.nodes {
		n := &o.nodes[i]
		key := &n.Options[0]
		if at, known := shared[key]; known && widensAlike(&o.nodes[at], n) {
			o.options[i], plan.Nodes[i].Options = o.options[at], plan.Nodes[at].Options
			continue
		}
		shared[key] = i
		as := *n
		as.Options = o.attempt.Widened(n, in.SpotTolerance)
		if len(as.Options) > len(n.Options) {
			changed, o.options[i], plan.Nodes[i].Options = true, as.Options, planwriter.Options(o.problem, o.attempt, &as)
		}
	}
	if !changed || len(o.unbindable(in)) > 0 {
		*o = narrow
	}
}

// widensAlike reports whether two nodes get the same further options: they have the same
// options, and as many pods of each class. Nodes that share their options may differ in
// the rest.
func widensAlike(a, b *commit.Node) bool {
	return a.Template == b.Template && len(a.Options) == len(b.Options) && slices.Equal(a.Placed, b.Placed)
}
