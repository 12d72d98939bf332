package spend

import (
	"time"

	"spokeshave.dev/controller/core/model"
)

// SurgeFor is how long a disruption may run a node and its replacement side by
// side before both count: until then only the difference does.
const SurgeFor = 30 * time.Minute

// Surge is what a scope's pools, by index into Snapshot.Pools, pay twice per hour
// at the moment, because replacements are on their way or there, and what they
// replace has not gone yet.
func Surge(s *model.Snapshot, pools []bool) model.Price {
	old, fresh := map[string]model.Price{}, map[string]model.Price{}
	of := map[string]string{} // command by claim of a replacement
	for i := range s.Nodes {
		n := &s.Nodes[i]
		c := n.Command
		if c == nil || len(c.Replacements) == 0 || s.Time.Sub(c.Started) >= SurgeFor {
			continue
		}
		for _, claim := range c.Replacements {
			of[claim] = c.ID
		}
		if n.Pool >= 0 && pools[n.Pool] && !n.Noticed {
			old[c.ID] += n.Cost()
		}
	}
	if len(of) == 0 {
		return 0
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if id, ok := of[n.Claim]; ok && n.Claim != "" && n.Pool >= 0 && pools[n.Pool] && !n.Noticed {
			fresh[id] += max(n.Cost(), n.Reserved)
		}
	}
	sum := model.Price(0)
	for id := range fresh {
		sum += min(old[id], fresh[id])
	}
	return sum
}
