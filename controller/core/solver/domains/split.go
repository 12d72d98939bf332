package domains

import (
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// splitClasses returns one class for each domain that pods go to, in place of the
// classes assigned, and the domains of all classes.
func (h *assigner) splitClasses() ([]problem.Class, []classDomains) {
	drop := make([]bool, len(h.classes))
	most := len(h.classes) + len(h.demands)
	for i := range h.demands {
		for _, n := range h.demands[i].assigned {
			most += int(min(n, 1))
		}
	}
	out := splitting{classes: make([]problem.Class, 0, most), of: make([]classDomains, 0, most)}
	only, notes := make([]vec.Bits, len(h.domains.Values)), make([]string, len(h.domains.Values))
	for v := range only {
		only[v], notes[v] = vec.NewBits(len(h.domains.Values)), " @"+h.domains.Values[v]
		only[v].Set(int32(v))
	}
	for i := range h.demands {
		x := &h.demands[i]
		drop[x.class] = true
		out.cl, out.pods = &h.classes[x.class], h.classes[x.class].Pods
		switch {
		case x.uncounted:
			h.restrictUncounted(x, &out)
		default:
			used := slices.Clip(h.of[x.class].used)
			for v, n := range x.assigned {
				if n > 0 {
					h.add(&out, x, n, only[v], notes[v], append(used, usedDomain{x, int32(v)}))
				}
			}
		}
		if len(out.pods) > 0 {
			h.addUnassigned(&out, x)
		}
	}
	for c := range h.classes {
		if !drop[c] {
			out.classes, out.of = append(out.classes, h.classes[c]), append(out.of, h.of[c])
		}
	}
	return out.classes, out.of
}

// splitting is the list of classes that take the place of others, with their domains.
type splitting struct {
	classes []problem.Class
	of      []classDomains
	// cl is the class that is being split, and pods are those of its pods that are
	// not in a new class yet.
	cl   *problem.Class
	pods []int32
}

// add adds a class of the next n pods, or groups of a bundle, which are restricted to
// the values.
func (h *assigner) add(out *splitting, x *demand, n int32, values vec.Bits, note string, used []usedDomain) {
	next, k := *out.cl, int(n*max(1, out.cl.BundleSize))
	next.Pods, out.pods = out.pods[:k], out.pods[k:]
	next.Key += note
	next.Choice = h.restrictOffers(next.Choice, values)
	out.classes = append(out.classes, next)
	out.of = append(out.of, classDomains{h.restrict(x, values), used})
}

// restrict returns the restrictions of a demand's class with one more.
func (h *assigner) restrict(x *demand, values vec.Bits) []restriction {
	return append(slices.Clip(h.of[x.class].restrictions), restriction{h.key, values})
}

// addUnassigned adds the class of the pods of a demand that got no domain.
func (h *assigner) addUnassigned(out *splitting, x *demand) {
	next, of := *out.cl, h.of[x.class]
	next.Pods, out.pods = out.pods, nil
	if x.feasibleDomains() > 0 {
		next.Reasons = []model.Reason{h.counts.unassignedReason(h.domains, x)}
	} else if len(x.rules) > 0 { // without rules, the cause is not topology
		values := vec.NewBits(len(h.domains.Values))
		values.SetRange(0, int32(len(h.domains.Values)))
		of.restrictions = h.restrict(x, values)
		next.Choice = h.restrictOffers(next.Choice, values)
	}
	next.Key += " @"
	out.classes, out.of = append(out.classes, next), append(out.of, of)
}

// restrictUncounted restricts a class that no group counts to the domains that
// satisfy its rules.
func (h *assigner) restrictUncounted(x *demand, out *splitting) {
	values := vec.NewBits(len(h.domains.Values))
	var names []string
	used := slices.Clip(h.of[x.class].used)
	for v, ok := range x.feasible {
		if ok && h.counts.violatedRule(x, int32(v)) == nil {
			values.Set(int32(v))
			names = append(names, h.domains.Values[v])
			used = append(used, usedDomain{x, int32(v)})
		}
	}
	if len(names) > 0 {
		h.add(out, x, x.unassigned, values, " @"+strings.Join(names, ","), used)
		x.unassigned = 0
	}
}

// restrictOffers returns the choice of those offers that are in one of the domains.
func (h *assigner) restrictOffers(choice int32, values vec.Bits) int32 {
	key := offerRestriction{choice: choice}
	if len(values) == 1 { // few keys have more than 64 domains
		key.values = values[0]
		if id, ok := h.restricted[key]; ok {
			return id
		}
	}
	in := vec.NewBits(len(h.space.p.Supply.Offers))
	for v := values.Next(0); v >= 0; v = values.Next(v + 1) {
		in.Or(h.domains.Offers[v])
	}
	in.And(h.space.p.Choices.All[choice])
	id := h.space.p.Choices.ID(in)
	if len(values) == 1 {
		if h.restricted == nil {
			h.restricted = map[offerRestriction]int32{}
		}
		h.restricted[key] = id
	}
	return id
}

// offerRestriction is a choice of offers and the domains that it is restricted to.
type offerRestriction struct {
	choice int32
	values uint64
}
