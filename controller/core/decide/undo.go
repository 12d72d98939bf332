package decide

import (
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

// recheckAfterUndo holds the plan's launches against the caps again when commands are
// taken back: what the nodes cost stays beside what was launched in their stead,
// and both count from now on, where the plan was made while they counted once.
// Launches for which that leaves too little wait for the next decision.
func (j *judge) recheckAfterUndo(commands []*Command) {
	if j.in == nil || len(j.in.Headroom) == 0 || len(j.out.Plan.Nodes) == 0 {
		return
	}
	after := *j.s
	after.Nodes = slices.Clone(j.s.Nodes)
	any := false
	for _, c := range commands {
		if c.Stage != Undo {
			continue
		}
		for _, i := range c.Nodes {
			after.Nodes[i].Command, any = nil, true
		}
	}
	if !any {
		return
	}
	for i := range j.in.Headroom {
		h := &j.in.Headroom[i]
		left := max(0, h.Left-spend.Surge(j.s, h.Pools)+spend.Surge(&after, h.Pools))
		if needed := j.planned(h.Scope); needed > left {
			j.holdBack(h, needed-left)
		}
	}
}

// holdBack takes the launches within a cap off the plan.
func (j *judge) holdBack(h *model.Headroom, short model.Price) {
	j.out.Plan.Nodes = slices.DeleteFunc(j.out.Plan.Nodes, func(n model.PlannedNode) bool {
		if !h.Pools[n.Pool] {
			return false
		}
		j.unplace(n.Pods, model.Reason{
			Code: model.CeilingReached, Pool: j.s.Pools[n.Pool].Name, Policy: h.Policy, Scope: h.Scope, Short: short,
			Message: fmt.Sprintf("cap %s on %s: a replacement is being taken back, which stays beside what it was to replace and leaves %s $/h too little", h.Policy, h.Scope, short),
		})
		return true
	})
}
