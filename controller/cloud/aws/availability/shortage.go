package availability

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"spokeshave.dev/controller/core/model"
)

// soldOutFor is how long an offering that EC2 found sold out is left alone.
const soldOutFor = 3 * time.Minute

// offering is an instance type in a zone, bought in one way, within a placement group or, ""
// for none, anywhere in the zone.
type offering struct {
	instanceType string
	zone         string
	capacityType model.CapacityType
	group        string
}

// Shortage remembers offerings found sold out, across node classes: stock is
// the account's, not the class's.
type Shortage struct {
	mu    sync.Mutex
	until map[offering]time.Time
	rests map[string]rest
}

// Mark leaves offerings alone for three minutes from now. What a placement group, by its ID,
// has no room for may be had outside of it; "" is no group.
func (s *Shortage) Mark(now time.Time, options []model.Option, group string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until == nil {
		s.until = map[offering]time.Time{}
	}
	for i := range options {
		o := offering{instanceType: options[i].InstanceType, zone: options[i].Zone, capacityType: options[i].CapacityType, group: group}
		s.until[o] = now.Add(soldOutFor)
	}
}

// current forgets what is over and lists the rest, sorted.
func (s *Shortage) current(now time.Time) []offering {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]offering, 0, len(s.until))
	for o, until := range s.until {
		if !now.Before(until) {
			delete(s.until, o)
			continue
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b offering) int {
		return cmp.Or(cmp.Compare(a.instanceType, b.instanceType), cmp.Compare(a.zone, b.zone), cmp.Compare(a.capacityType, b.capacityType), cmp.Compare(a.group, b.group))
	})
	return out
}

// Apply marks what is sold out in the catalogue of a class whose nodes are launched into a
// placement group, "" for none. The catalogue's own slices stay as they are, and it gets a
// generation of its own.
func (s *Shortage) Apply(now time.Time, catalog model.Catalog, group string) model.Catalog {
	short, rests := s.current(now), s.resting(now)
	if len(short)+len(rests) == 0 {
		return catalog
	}
	sum := fnv.New64a()
	// A hash never refuses a write.
	_, _ = fmt.Fprintln(sum, catalog.Generation)
	changed := false
	types := slices.Clone(catalog.Types)
	for _, o := range short {
		if o.group != "" && o.group != group {
			continue
		}
		at, found := slices.BinarySearchFunc(types, o.instanceType, func(t model.InstanceType, name string) int { return cmp.Compare(t.Name, name) })
		if !found {
			continue
		}
		t := &types[at]
		t.Offerings = slices.Clone(t.Offerings)
		for i := range t.Offerings {
			if t.Offerings[i].Zone == o.zone && t.Offerings[i].CapacityType == o.capacityType {
				t.Offerings[i].Available, changed = false, true
				_, _ = fmt.Fprintln(sum, o)
			}
		}
	}
	for _, r := range rests {
		if r.apply(&catalog, types) {
			changed = true
			_, _ = fmt.Fprintln(sum, r.Name)
		}
	}
	if !changed {
		return catalog
	}
	catalog.Types = types
	catalog.Generation = sum.Sum64() >> 11 // as exact in a float64 as the catalogue's own
	return catalog
}
