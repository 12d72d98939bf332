package spend

import (
	"cmp"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// remembered is how long a node that went is spoken of.
const remembered = time.Hour

// departures joins what is kept and what is seen of the nodes that began to go
// within the last hour. A node that both know is the one that went first, with
// all the pods that it had then: after a restart only those are seen that are
// still on their way out, with the pods that are left.
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
