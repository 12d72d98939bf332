package solver

import (
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// split makes classes of the parts.
func (h *holder) split() {
	drop := make([]bool, len(h.classes))
	most := len(h.classes) + len(h.parts)
	for i := range h.parts {
		for _, n := range h.parts[i].got {
			most += int(min(n, 1))
		}
	}
	more := make([]class, 0, most)
	only, notes := make([]bitset, len(h.d.values)), make([]string, len(h.d.values))
	for v := range only {
		only[v], notes[v] = newBitset(len(h.d.values)), " @"+h.d.values[v]
		only[v].set(int32(v))
	}
	for i := range h.parts {
		x := &h.parts[i]
		cl := &h.classes[x.class]
		drop[x.class] = true
		at := 0
		take := func(n int32, values bitset, note string) *class {
			next := *cl
			next.pods = cl.pods[at : at+int(n*max(1, cl.size))]
			at += len(next.pods)
			next.key += note
			next.held = append(slices.Clip(cl.held), held{h.k, values})
			next.offers = h.restrict(cl.offers, values)
			more = append(more, next)
			return &more[len(more)-1]
		}
		if x.free {
			h.free(x, take)
		} else {
			for v, n := range x.got {
				if n > 0 {
					next := take(n, only[v], notes[v])
					next.seats = append(slices.Clip(cl.seats), seat{x, int32(v)})
				}
			}
		}
		if rest := cl.pods[at:]; len(rest) > 0 {
			more = append(more, h.rest(x, rest))
		}
	}
	for c := range h.classes {
		if !drop[c] {
			more = append(more, h.classes[c])
		}
	}
	h.classes = more
}

// rest is the class of the pods of a part that got no domain.
func (h *holder) rest(x *part, pods []int32) class {
	cl := &h.classes[x.class]
	next := *cl
	next.pods = pods
	if some(x.feasible) > 0 {
		next.reasons = []model.Reason{h.reason(x)}
	} else if len(x.own) > 0 { // what is wrong is not topology
		values := newBitset(len(h.d.values))
		values.setRange(0, int32(len(h.d.values)))
		next.held = append(slices.Clip(cl.held), held{h.k, values})
		next.offers = h.restrict(cl.offers, values)
	}
	next.key += " @"
	return next
}

// free restricts a class that nobody counts to the domains that suit it.
func (h *holder) free(x *part, take func(n int32, values bitset, note string) *class) {
	values := newBitset(len(h.d.values))
	var names []string
	seats := slices.Clip(h.classes[x.class].seats)
	for v, ok := range x.feasible {
		if ok && h.broken(x, int32(v)) == nil {
			values.set(int32(v))
			names = append(names, h.d.values[v])
			seats = append(seats, seat{x, int32(v)})
		}
	}
	if len(names) > 0 {
		take(x.rest, values, " @"+strings.Join(names, ",")).seats = seats
		x.rest = 0
	}
}

// restrict is the choice of offers that are in one of the domains.
func (h *holder) restrict(choice int32, values bitset) int32 {
	key := narrowing{choice: choice}
	if len(values) == 1 { // few keys have more than 64 domains
		key.values = values[0]
		if id, ok := h.narrowed[key]; ok {
			return id
		}
	}
	in := newBitset(len(h.offers))
	for v := values.next(0); v >= 0; v = values.next(v + 1) {
		in.or(h.d.sets[v])
	}
	in.and(h.choices.sets[choice])
	id := h.choices.id(in)
	if len(values) == 1 {
		if h.narrowed == nil {
			h.narrowed = map[narrowing]int32{}
		}
		h.narrowed[key] = id
	}
	return id
}

// narrowing is a choice of offers and the domains that it is restricted to.
type narrowing struct {
	choice int32
	values uint64
}

// reason says which rule keeps the rest of a part out of the domains that
// could hold it.
func (h *holder) reason(x *part) model.Reason {
	var code model.ReasonCode
	var parts []string
	for v, ok := range x.feasible {
		if !ok {
			continue
		}
		r := h.broken(x, int32(v))
		if r == nil {
			continue
		}
		if code == "" {
			code = r.code()
		}
		parts = append(parts, h.d.values[v]+" "+h.ruleText(r, int32(v)))
	}
	if code == "" {
		return model.Reason{Code: model.TopologySpread, Message: "no domain of " + h.d.key + " suits all of its topology constraints"}
	}
	return model.Reason{Code: code, Message: "no " + h.d.key + " suits: " + strings.Join(parts, ", ")}
}

func (h *holder) ruleText(r *rule, v int32) string {
	switch r.kind {
	case near:
		return "has none of the pods it wants near"
	case apart:
		return "has pods it must be kept apart from"
	case spreads, evenly:
	}
	return fmt.Sprintf("has %d pods of its spread (maxSkew %d, least %d)", h.l.hi[r.census][v], r.max, h.l.least(r))
}
