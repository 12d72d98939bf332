package solver

import (
	"cmp"
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/vec"
)

// minValue is how many values of a label the options of a pool's nodes must keep.
type minValue struct {
	key string
	n   int
}

// minValues are the minValues of a node template's pool.
func (p *problem) minValues(l int32) []minValue {
	var out []minValue
	for i := range p.snap.Pools[p.templates[l].pool].Requirements {
		if r := &p.snap.Pools[p.templates[l].pool].Requirements[i]; r.MinValues > 0 {
			out = append(out, minValue{r.Key, r.MinValues})
		}
	}
	return out
}

// minValuesStrict says whether the node template's nodes may not be planned without the variety
// that their pool wants.
func (p *problem) minValuesStrict(l int32) bool {
	return !p.snap.Settings.RelaxMinValues && len(p.minValues(l)) > 0
}

// valuesOf are the different values of a label among offers.
func (p *problem) valuesOf(offers []int32, key string) map[string]bool {
	seen := map[string]bool{}
	for _, o := range offers {
		if v, ok := p.offerLabel(o, key); ok {
			seen[v] = true
		}
	}
	return seen
}

// unmetMinValues is the first want that the offers do not meet, nil when they meet all.
func (p *problem) unmetMinValues(wants []minValue, offers []int32) *minValue {
	for i := range wants {
		if len(p.valuesOf(offers, wants[i].key)) < wants[i].n {
			return &wants[i]
		}
	}
	return nil
}

// addForMinValues completes the options of a node by dearer ones until the minValues of
// its pool are kept, the cheapest first, in the place of those that add no
// value when there is no more room. A node that cannot keep them has no
// options, unless best effort is enough.
func (a *attempt) addForMinValues(n *planned, most int) {
	p, b := a.p, a.b
	wants := p.minValues(n.template)
	if len(n.options) == 0 || p.unmetMinValues(wants, n.options) == nil {
		return
	}
	kept := n.options[:1:1]
	add := func(list []int32) {
		for _, f := range list {
			if len(kept) < most && !slices.Contains(kept, f) && p.addsValue(wants, kept, f) {
				kept = append(kept, f)
			}
		}
	}
	add(n.options)
	var others []int32
	for _, f := range b.byCost[n.template] {
		if n.set.Has(f) && b.affords(f) && vec.Fits(&n.demand, &p.shapes[p.offers[f].shape].capacity, p.dims.n()) {
			others = append(others, f)
		}
	}
	add(others)
	if p.unmetMinValues(wants, kept) != nil && !p.snap.Settings.RelaxMinValues {
		n.options, n.costs = nil, nil
		return
	}
	for _, f := range n.options {
		if len(kept) < most && !slices.Contains(kept, f) {
			kept = append(kept, f)
		}
	}
	n.options = kept
	b.arrange(n)
}

// arrange puts the options of a node in order and notes their costs.
func (b *budget) arrange(n *planned) {
	slices.SortFunc(n.options, func(x, y int32) int {
		if o := cmp.Compare(b.cost[x], b.cost[y]); o != 0 {
			return o
		}
		return b.p.compareOffers(x, y)
	})
	n.costs = nil
	if b.tiered {
		for _, f := range n.options {
			n.costs = append(n.costs, b.cost[f])
		}
	}
}

// addsValue says whether an offer has a value that a want still lacks.
func (p *problem) addsValue(wants []minValue, kept []int32, o int32) bool {
	for i := range wants {
		seen := p.valuesOf(kept, wants[i].key)
		if v, ok := p.offerLabel(o, wants[i].key); ok && len(seen) < wants[i].n && !seen[v] {
			return true
		}
	}
	return false
}

// dropTooLarge leaves out of a set the offers that are so large that too few others
// could hold as much: nodes filled for them could not keep the pool's minValues.
func (p *problem) dropTooLarge(set vec.Bits) {
	for l := range p.templates {
		if !p.minValuesStrict(int32(l)) {
			continue
		}
		wants := p.minValues(int32(l))
		var all []int32
		for o := set.Next(p.templates[l].from); o >= 0 && o < p.templates[l].to; o = set.Next(o + 1) {
			all = append(all, o)
		}
		enough := map[int32]bool{}
		for _, o := range all {
			shape := p.offers[o].shape
			if _, seen := enough[shape]; !seen {
				enough[shape] = p.unmetMinValues(wants, p.atLeastAsLarge(all, shape)) == nil
			}
			if !enough[shape] {
				set.Unset(o)
			}
		}
	}
}

// atLeastAsLarge are the offers with all the room of a shape.
func (p *problem) atLeastAsLarge(offers []int32, shape int32) []int32 {
	var out []int32
	for _, f := range offers {
		if vec.Fits(&p.shapes[shape].capacity, &p.shapes[p.offers[f].shape].capacity, p.dims.n()) {
			out = append(out, f)
		}
	}
	return out
}

// minValuesReason says which minValues nodes for the class could not keep, nil when
// that is not what stops it.
func (p *problem) minValuesReason(cl *class, template int32) *model.Reason {
	if !p.minValuesStrict(template) {
		return nil
	}
	ln := &p.templates[template]
	var fit []int32
	for o := ln.from; o < ln.to; o++ {
		if p.choices.sets[cl.offers].Has(o) && vec.Fits(&cl.req, &p.shapes[p.offers[o].shape].capacity, p.dims.n()) {
			fit = append(fit, o)
		}
	}
	w := p.unmetMinValues(p.minValues(template), fit)
	if w == nil {
		return nil
	}
	return &model.Reason{Code: model.MinValues, Message: fmt.Sprintf(
		"the NodePool wants nodes to choose from %d values of %s, those that fit have %d", w.n, w.key, len(p.valuesOf(fit, w.key)))}
}
