package cluster

import (
	"cmp"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// remembered is how long a node that went is spoken of.
const remembered = time.Hour

// departures adds the nodes that have begun to go since the last snapshot to
// those known, but for launches that came to nothing, and forgets what is too
// old. The result is a slice of its own. A restart forgets all nodes but those
// that are still on their way out; the ledger (controller/core/spend) does not.
func departures(known []model.Departure, s *model.Snapshot) []model.Departure {
	seen := make(map[string]bool, len(known))
	var out []model.Departure
	for _, d := range known {
		if s.Time.Sub(d.Time) < remembered {
			out = append(out, d)
			seen[d.Claim] = true
		}
	}
	fresh := map[int32]int{} // nodes by their place in out
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.State == model.Deleting && n.Pool >= 0 && !n.LaunchedAt.IsZero() && !seen[n.Claim] {
			fresh[int32(i)] = len(out)
			out = append(out, model.Departure{Claim: n.Claim, Pool: s.Pools[n.Pool].Name, Time: s.Time})
		}
	}
	if len(fresh) > 0 {
		for i := range s.Pods {
			if at, ok := fresh[s.Pods[i].Node]; ok && !s.Pods[i].Daemon {
				out[at].Pods++
			}
		}
	}
	slices.SortStableFunc(out, func(a, b model.Departure) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Claim, b.Claim))
	})
	return out
}
