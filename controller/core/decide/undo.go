package decide

import (
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

// recheckAfterUndo compares the plan's launches with the caps again when commands
// are undone. The plan was solved while a node and its replacement counted once.
// After the undo both stay and both count. Launches that no longer fit are removed
// from the plan and wait for the next decision.
func (j *searchStep) recheckAfterUndo(commands []*Command) {
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

// holdBack removes every launch in the cap's pools from the plan. short is what the
// cap lacks, per hour.
func (j *searchStep) holdBack(h *model.Headroom, short model.Price) {
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
