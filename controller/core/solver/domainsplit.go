package solver

import (
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// splitClasses replaces classes by one class for each domain that their pods go to.
func (h *domainAssigner) splitClasses() {
	drop := make([]bool, len(h.classes))
	most := len(h.classes) + len(h.demands)
	for i := range h.demands {
		for _, n := range h.demands[i].assigned {
			most += int(min(n, 1))
		}
	}
	more := make([]class, 0, most)
	only, notes := make([]vec.Bits, len(h.domains.values)), make([]string, len(h.domains.values))
	for v := range only {
		only[v], notes[v] = vec.NewBits(len(h.domains.values)), " @"+h.domains.values[v]
		only[v].Set(int32(v))
	}
	for i := range h.demands {
		x := &h.demands[i]
		cl := &h.classes[x.class]
		drop[x.class] = true
		at := 0
		take := func(n int32, values vec.Bits, note string) *class {
			next := *cl
			next.pods = cl.pods[at : at+int(n*max(1, cl.bundleSize))]
			at += len(next.pods)
			next.key += note
			next.restrictions = append(slices.Clip(cl.restrictions), domainRestriction{h.key, values})
			next.offers = h.restrictOffers(cl.offers, values)
			more = append(more, next)
			return &more[len(more)-1]
		}
		if x.uncounted {
			h.restrictUncounted(x, take)
		} else {
			for v, n := range x.assigned {
				if n > 0 {
					next := take(n, only[v], notes[v])
					next.assignments = append(slices.Clip(cl.assignments), domainAssignment{x, int32(v)})
				}
			}
		}
		if rest := cl.pods[at:]; len(rest) > 0 {
			more = append(more, h.unassignedClass(x, rest))
		}
	}
	for c := range h.classes {
		if !drop[c] {
			more = append(more, h.classes[c])
		}
	}
	h.classes = more
}

// unassignedClass returns the class of the pods of a demand that got no domain.
func (h *domainAssigner) unassignedClass(x *classDemand, pods []int32) class {
	cl := &h.classes[x.class]
	next := *cl
	next.pods = pods
	if countTrue(x.feasible) > 0 {
		next.reasons = []model.Reason{h.unassignedReason(x)}
	} else if len(x.rules) > 0 { // without rules, the cause is not topology
		values := vec.NewBits(len(h.domains.values))
		values.SetRange(0, int32(len(h.domains.values)))
		next.restrictions = append(slices.Clip(cl.restrictions), domainRestriction{h.key, values})
		next.offers = h.restrictOffers(cl.offers, values)
	}
	next.key += " @"
	return next
}

// restrictUncounted restricts a class that no group counts to the domains that
// satisfy its rules.
func (h *domainAssigner) restrictUncounted(x *classDemand, take func(n int32, values vec.Bits, note string) *class) {
	values := vec.NewBits(len(h.domains.values))
	var names []string
	seats := slices.Clip(h.classes[x.class].assignments)
	for v, ok := range x.feasible {
		if ok && h.violatedRule(x, int32(v)) == nil {
			values.Set(int32(v))
			names = append(names, h.domains.values[v])
			seats = append(seats, domainAssignment{x, int32(v)})
		}
	}
	if len(names) > 0 {
		take(x.unassigned, values, " @"+strings.Join(names, ",")).assignments = seats
		x.unassigned = 0
	}
}

// restrictOffers returns the choice of those offers that are in one of the domains.
func (h *domainAssigner) restrictOffers(choice int32, values vec.Bits) int32 {
	key := offerRestriction{choice: choice}
	if len(values) == 1 { // few keys have more than 64 domains
		key.values = values[0]
		if id, ok := h.restricted[key]; ok {
			return id
		}
	}
	in := vec.NewBits(len(h.supply.Offers))
	for v := values.Next(0); v >= 0; v = values.Next(v + 1) {
		in.Or(h.domains.offers[v])
	}
	in.And(h.choices.sets[choice])
	id := h.choices.id(in)
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

// unassignedReason returns which rule excludes the remaining pods of a demand from
// the domains that could hold them.
func (h *domainAssigner) unassignedReason(x *classDemand) model.Reason {
	var code model.ReasonCode
	var parts []string
	for v, ok := range x.feasible {
		if !ok {
			continue
		}
		r := h.violatedRule(x, int32(v))
		if r == nil {
			continue
		}
		if code == "" {
			code = r.Code()
		}
		parts = append(parts, h.domains.values[v]+" "+h.ruleText(r, int32(v)))
	}
	if code == "" {
		return model.Reason{Code: model.TopologySpread, Message: "no domain of " + h.domains.key + " suits all of its topology constraints"}
	}
	return model.Reason{Code: code, Message: "no " + h.domains.key + " suits: " + strings.Join(parts, ", ")}
}

func (h *domainAssigner) ruleText(r *constraint.Rule, v int32) string {
	switch r.Kind {
	case constraint.Affinity:
		return "has none of the pods it wants near"
	case constraint.AntiAffinity:
		return "has pods it must be kept apart from"
	case constraint.HardSpread, constraint.SoftSpread:
	}
	return fmt.Sprintf("has %d pods of its spread (maxSkew %d, least %d)", h.counts.possible[r.Group][v], r.Max, h.counts.minimum(r))
}
