package supply

import "spokeshave.dev/controller/core/solver/vec"

// MinValue is how many different values of a label the options of a node must have,
// by minValues of a NodePool's requirement.
type MinValue struct {
	Key string
	N   int
}

// MinValues are those of a template's pool.
func (p *Table) MinValues(l int32) []MinValue {
	var out []MinValue
	for i := range p.snap.Pools[p.Templates[l].Pool].Requirements {
		if r := &p.snap.Pools[p.Templates[l].Pool].Requirements[i]; r.MinValues > 0 {
			out = append(out, MinValue{r.Key, r.MinValues})
		}
	}
	return out
}

// MinValuesStrict says whether a node of the template may not be planned with fewer
// values than its pool's minValues ask for.
func (p *Table) MinValuesStrict(l int32) bool {
	return !p.snap.Settings.RelaxMinValues && len(p.MinValues(l)) > 0
}

// ValuesOf are the different values of a label among offers.
func (p *Table) ValuesOf(offers []int32, key string) map[string]bool {
	seen := map[string]bool{}
	for _, o := range offers {
		if v, ok := p.OfferLabel(o, key); ok {
			seen[v] = true
		}
	}
	return seen
}

// UnmetMinValue is the first that the offers do not meet, nil when they meet all.
func (p *Table) UnmetMinValue(wants []MinValue, offers []int32) *MinValue {
	for i := range wants {
		if len(p.ValuesOf(offers, wants[i].Key)) < wants[i].N {
			return &wants[i]
		}
	}
	return nil
}

// AddsValue says whether an offer adds a value to those that kept ones have, of a
// label with too few.
func (p *Table) AddsValue(wants []MinValue, kept []int32, o int32) bool {
	for i := range wants {
		seen := p.ValuesOf(kept, wants[i].Key)
		if v, ok := p.OfferLabel(o, wants[i].Key); ok && len(seen) < wants[i].N && !seen[v] {
			return true
		}
	}
	return false
}

// DropTooLarge removes offers from a set that are so large that too few others hold
// as much: the options of a node that fills one could not meet the pool's minValues.
func (p *Table) DropTooLarge(set vec.Bits) {
	for l := range p.Templates {
		if !p.MinValuesStrict(int32(l)) {
			continue
		}
		wants := p.MinValues(int32(l))
		var all []int32
		for o := set.Next(p.Templates[l].From); o >= 0 && o < p.Templates[l].To; o = set.Next(o + 1) {
			all = append(all, o)
		}
		enough := map[int32]bool{}
		for _, o := range all {
			shape := p.Offers[o].Shape
			if _, seen := enough[shape]; !seen {
				enough[shape] = p.UnmetMinValue(wants, p.atLeastAsLarge(all, shape)) == nil
			}
			if !enough[shape] {
				set.Unset(o)
			}
		}
	}
}

// atLeastAsLarge are the offers whose capacity is that of the shape or more, in every
// resource.
func (p *Table) atLeastAsLarge(offers []int32, shape int32) []int32 {
	var out []int32
	for _, f := range offers {
		if vec.Fits(&p.Shapes[shape].Capacity, &p.Shapes[p.Offers[f].Shape].Capacity, p.Dims.N()) {
			out = append(out, f)
		}
	}
	return out
}
