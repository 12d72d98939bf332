package availability

import (
	"cmp"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Rest is a group of offerings that one refusal says cannot be had, although it names one
// of them only: those that count against a quota, those in a subnet without addresses.
type Rest struct {
	// Name tells the group from others.
	Name string
	// NodeClass narrows the group to the catalogue of a class; "" is all.
	NodeClass string
	// Covers says whether an offering belongs to the group.
	Covers func(*model.InstanceType, *model.Offering) bool
}

// rest is a Rest with its end.
type rest struct {
	Rest
	until time.Time
}

// MarkGroup leaves a group of offerings alone for three minutes from now.
func (s *Shortage) MarkGroup(now time.Time, r Rest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rests == nil {
		s.rests = map[string]rest{}
	}
	s.rests[r.Name] = rest{Rest: r, until: now.Add(soldOutFor)}
}

// resting forgets what is over and lists the other groups by name.
func (s *Shortage) resting(now time.Time) []rest {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]rest, 0, len(s.rests))
	for name, r := range s.rests {
		if !now.Before(r.until) {
			delete(s.rests, name)
			continue
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b rest) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// apply marks the group's offerings in a list of types, whose slices of offerings stay as
// they are. It says whether there were any that could be had.
func (r *rest) apply(catalog *model.Catalog, types []model.InstanceType) (changed bool) {
	if r.NodeClass != "" && r.NodeClass != catalog.NodeClass {
		return false
	}
	for i := range types {
		t := &types[i]
		own := false
		for j := range t.Offerings {
			if !t.Offerings[j].Available || !r.Covers(t, &t.Offerings[j]) {
				continue
			}
			if !own {
				t.Offerings, own = slices.Clone(t.Offerings), true
			}
			t.Offerings[j].Available, changed = false, true
		}
	}
	return changed
}
