package cluster

import (
	"cmp"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// departureRetention is how long a node whose deletion began stays in Snapshot.Departed.
const departureRetention = time.Hour

// departures returns the known departures without those older than remembered, plus the
// nodes that are being deleted and are not known yet. Claims that were never launched
// are left out. The result is a new slice. After a restart only nodes that are still
// being deleted are known; the ledger (controller/core/spend) keeps the others.
func departures(known []model.Departure, s *model.Snapshot) []model.Departure {
	seen := make(map[string]bool, len(known))
	var out []model.Departure
	for _, d := range known {
		if s.Time.Sub(d.Time) < departureRetention {
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
