package disrupt

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// settling reports whether the node's consolidateAfter has not passed yet.
func (v *Survey) settling(n *model.Node) bool {
	if n.State != model.Initialized || n.Pool < 0 || v.s.Pools[n.Pool].Disruption.Never {
		return false
	}
	return lastEvent(n).Add(v.s.Pools[n.Pool].Disruption.ConsolidateAfter).After(v.s.Time)
}

// avoidSettling keeps moved pods off the nodes that settle: pods still come to them and
// leave them.
func (v *Survey) avoidSettling(in *solver.Input) {
	for i := range v.s.Nodes {
		if n := &in.Snapshot.Nodes[i]; v.settling(n) {
			addNoMoveTaint(n)
		}
	}
}
