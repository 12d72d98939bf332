package spend

import (
	"cmp"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// remembered is how long a departure is kept after the node began to terminate.
const remembered = time.Hour

// departures merges the kept and the observed departures of the last hour, sorted by
// time. For a claim in both lists it takes the earlier time and the larger number of
// pods: after a restart only nodes that still terminate are observed, with the pods
// that are left on them.
func departures(kept, seen []model.Departure, now time.Time) []model.Departure {
	at := map[string]int{}
	var out []model.Departure
	for _, d := range slices.Concat(kept, seen) {
		if now.Sub(d.Time) >= remembered {
			continue
		}
		i, known := at[d.Claim]
		if !known {
			at[d.Claim] = len(out)
			out = append(out, d)
			continue
		}
		out[i].Pods = max(out[i].Pods, d.Pods)
		if d.Time.Before(out[i].Time) {
			out[i].Time = d.Time
		}
	}
	slices.SortFunc(out, func(a, b model.Departure) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Claim, b.Claim))
	})
	return out
}
