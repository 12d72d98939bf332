package supply

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/vec"
)

// MinValue is how many different values of a label the options of a node must have,
// by minValues of a NodePool's requirement.
type MinValue struct {
	Key string
	N   int
}

// MinValues are what the pool of a template asks of the options of a node. None are
// asked for where the list is empty.
type MinValues struct {
	table *Table
	wants []MinValue
}

// minValuesOf returns what the requirements of a pool ask for.
func minValuesOf(q *model.Pool) []MinValue {
	var out []MinValue
	for i := range q.Requirements {
		if r := &q.Requirements[i]; r.MinValues > 0 {
			out = append(out, MinValue{r.Key, r.MinValues})
		}
	}
	return out
}

// MinValues returns those of a template's pool.
func (p *Table) MinValues(template int32) MinValues {
	return MinValues{table: p, wants: p.Templates[template].minValues}
}

// MinValuesStrict reports whether a node of the template may not be planned with
// fewer values than its pool's minValues ask for.
func (p *Table) MinValuesStrict(template int32) bool {
	return !p.snap.Settings.RelaxMinValues && len(p.Templates[template].minValues) > 0
}

// Values returns the different values of a label among offers.
func (m MinValues) Values(offers []int32, key string) map[string]bool {
	seen := map[string]bool{}
	for _, o := range offers {
		if v, ok := m.table.OfferLabel(o, key); ok {
			seen[v] = true
		}
	}
	return seen
}

// Unmet returns the first that the offers do not meet, nil when they meet all.
func (m MinValues) Unmet(offers []int32) *MinValue {
	for i := range m.wants {
		if len(m.Values(offers, m.wants[i].Key)) < m.wants[i].N {
			return &m.wants[i]
		}
	}
	return nil
}

// Adds reports whether an offer adds a value to those of the kept offers, for a label
// of which these have too few.
func (m MinValues) Adds(kept []int32, o int32) bool {
	for i := range m.wants {
		seen := m.Values(kept, m.wants[i].Key)
		if v, ok := m.table.OfferLabel(o, m.wants[i].Key); ok && len(seen) < m.wants[i].N && !seen[v] {
			return true
		}
	}
	return false
}

// DropTooLarge removes offers from a set that are so large that too few others hold
// as much: the options of a node that fills one could not meet the pool's minValues.
func (p *Table) DropTooLarge(set vec.Bits) {
	var strict []int32
	for l := range int32(len(p.Templates)) {
		if p.MinValuesStrict(l) {
			strict = append(strict, l)
		}
	}
	if len(strict) > 0 {
		p.sets.holdable.change(set, func() { dropTooLarge(p, set, strict) })
	}
}

// dropTooLarge is DropTooLarge, for templates whose minValues have to be met.
func dropTooLarge(p *Table, set vec.Bits, strict []int32) {
	for _, l := range strict {
		wants := p.MinValues(l)
		var all []int32
		for o := set.Next(p.Templates[l].From); o >= 0 && o < p.Templates[l].To; o = set.Next(o + 1) {
			all = append(all, o)
		}
		enough := map[int32]bool{}
		for _, o := range all {
			shape := p.Offers[o].Shape
			if _, seen := enough[shape]; !seen {
				enough[shape] = wants.Unmet(atLeastAsLarge(p, all, shape)) == nil
			}
			if !enough[shape] {
				set.Unset(o)
			}
		}
	}
}

// atLeastAsLarge are the offers whose capacity is that of the shape or more, in every
// resource.
func atLeastAsLarge(p *Table, offers []int32, shape int32) []int32 {
	var out []int32
	for _, f := range offers {
		if vec.Fits(&p.Shapes[shape].Capacity, &p.Shapes[p.Offers[f].Shape].Capacity, p.Dims.N()) {
			out = append(out, f)
		}
	}
	return out
}
