package aws

import (
	"sync"
	"time"

	"spokeshave.dev/controller/model"
)

// soldOutFor is how long an offering that EC2 found sold out is left alone.
const soldOutFor = 3 * time.Minute

type offering struct {
	instanceType string
	zone         string
	capacityType model.CapacityType
}

// shortage remembers offerings found sold out, across node classes: stock is
// the account's, not the class's.
type shortage struct {
	mu    sync.Mutex
	until map[offering]time.Time
	// version changes whenever the set does.
	version uint64
}

func (s *shortage) mark(now time.Time, options []model.Option) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range options {
		o := offering{instanceType: options[i].InstanceType, zone: options[i].Zone, capacityType: options[i].CapacityType}
		if _, known := s.until[o]; !known {
			s.version++
		}
		s.until[o] = now.Add(soldOutFor)
	}
}

// current forgets what is over, and gives the set and its version.
func (s *shortage) current(now time.Time) (map[offering]bool, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[offering]bool, len(s.until))
	for o, until := range s.until {
		if !now.Before(until) {
			delete(s.until, o)
			s.version++
			continue
		}
		out[o] = true
	}
	return out, s.version
}
