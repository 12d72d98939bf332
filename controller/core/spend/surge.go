package spend

import (
	"time"

	"spokeshave.dev/controller/core/model"
)

// SurgeFor is how long after a command's start only the difference between a node
// and its replacement counts. After that both count in full.
const SurgeFor = 30 * time.Minute

// Surge returns the hourly price that a scope pays twice at the moment, because
// replacements exist before the nodes that they replace are gone. pools is indexed
// like Snapshot.Pools.
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
