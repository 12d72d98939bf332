package breaker

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// gatherFor is how long the first of a burst waits, so that all of it can be counted.
	gatherFor = time.Minute
	// burstKept is how long one counts.
	burstKept = time.Hour
)

// Burst counts, by group, what is about to go. The zero value is ready.
type Burst struct {
	mu     sync.Mutex
	groups map[string]map[types.UID]time.Time
}

// Add counts one of a group. It returns how many of the group were counted within the last
// hour, and for how long this one still has to wait for others to be counted.
func (u *Burst) Add(group string, uid types.UID, now time.Time) (n int, wait time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.prune(now)
	if u.groups == nil {
		u.groups = map[string]map[types.UID]time.Time{}
	}
	all := u.groups[group]
	if all == nil {
		all = map[types.UID]time.Time{}
		u.groups[group] = all
	}
	if _, known := all[uid]; !known {
		all[uid] = now
	}
	return len(all), max(0, gatherFor-now.Sub(all[uid]))
}

// Remove stops counting one of a group, and reports whether it was the last one.
func (u *Burst) Remove(group string, uid types.UID) (last bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := u.groups[group]
	if _, known := all[uid]; !known {
		return false
	}
	delete(all, uid)
	return len(all) == 0
}

// prune drops what no longer counts.
func (u *Burst) prune(now time.Time) {
	for group, all := range u.groups {
		for uid, at := range all {
			if now.Sub(at) > burstKept {
				delete(all, uid)
			}
		}
		if len(all) == 0 {
			delete(u.groups, group)
		}
	}
}
