package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/applied"
	"spokeshave.dev/controller/core/model"
)

// headroomWithout returns the headroom with the nodes' cost added, so that a
// replacement uses only the difference.
func headroomWithout(headroom []model.Headroom, s *model.Snapshot, nodes []int32) []model.Headroom {
	out := slices.Clone(headroom)
	for h := range out {
		for _, i := range nodes {
			if n := &s.Nodes[i]; out[h].Pools == nil || n.Pool >= 0 && out[h].Pools[n.Pool] {
				out[h].Left += n.Cost()
			}
		}
	}
	return out
}

// headroomAccepted returns the headroom once the proposal is accepted. It never
// exceeds the headroom before: a saving counts only after the nodes are gone.
func headroomAccepted(headroom []model.Headroom, s *model.Snapshot, nodes []int32, plan *model.Plan) []model.Headroom {
	out := applied.Headroom(headroomWithout(headroom, s, nodes), s, plan.Nodes)
	for h := range out {
		out[h].Left = min(out[h].Left, headroom[h].Left)
	}
	return out
}
