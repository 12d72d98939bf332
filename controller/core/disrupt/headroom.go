package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// headroomWithout adds what the nodes cost to the headroom: a replacement reserves
// only the difference.
func (sc *Scene) headroomWithout(nodes []int32) []model.Headroom {
	out := slices.Clone(sc.In.Headroom)
	for h := range out {
		for _, i := range nodes {
			if n := &sc.snap.Nodes[i]; out[h].Pools == nil || n.Pool >= 0 && out[h].Pools[n.Pool] {
				out[h].Left += n.Cost()
			}
		}
	}
	return out
}

// headroomAfter is the headroom that new nodes leave, each at what it costs at worst.
func (sc *Scene) headroomAfter(headroom []model.Headroom, nodes []model.PlannedNode) []model.Headroom {
	out := slices.Clone(headroom)
	for h := range out {
		for i := range nodes {
			if out[h].Pools == nil || out[h].Pools[nodes[i].Pool] {
				out[h].Left -= nodes[i].Worst() + sc.snap.NodeCost(nodes[i].Pool)
			}
		}
	}
	return out
}

// headroomAccepted is the headroom once new nodes stand for those that go. What that saves
// is not there before it is done.
func (sc *Scene) headroomAccepted(nodes []int32, plan *model.Plan) []model.Headroom {
	out := sc.headroomAfter(sc.headroomWithout(nodes), plan.Nodes)
	for h := range out {
		out[h].Left = min(out[h].Left, sc.In.Headroom[h].Left)
	}
	return out
}
