package solver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/model"
)

// hold settles before packing which domains pods go to, for every key that
// topology constraints name but the hostname: classes are split, and each part
// is held to a domain. Pods that are counted somewhere are dealt one by one, so
// that the counts are known; those that only mind others choose among what
// then suits them.
func (p *problem) hold(hosts []host) {
	p.newDomains(hosts)
	if len(p.domains) > 0 {
		p.ledger = p.newLedger(hosts)
	}
	for k := range p.domains {
		h := holder{problem: p, k: int32(k), d: &p.domains[k], hosts: hosts, l: p.ledger}
		h.load, h.slack = make([]float64, len(h.d.values)), make([]vec, len(hosts))
		for i := range hosts {
			h.slack[i] = hosts[i].room
		}
		h.run()
	}
	if len(p.domains) > 0 {
		slices.SortFunc(p.classes, compareClasses)
	}
}

// holder deals the pods that mind one key.
type holder struct {
	*problem
	k     int32
	d     *domains
	hosts []host
	l     *ledger
	load  []float64
	parts []part
	// slack is what the hosts have left.
	slack []vec
}

// dealing is what a domain is chosen by, of those that the rules allow.
type dealing uint8

const (
	// evenFirst: what spreads even out, then the price.
	evenFirst dealing = iota
	// freeFirst: the same after room on existing nodes.
	freeFirst
	// cheapestFirst: the price, and then what spreads even out.
	cheapestFirst
)

// part is a class being dealt.
type part struct {
	class int32
	// own are the rules on this key, counted the censuses on it.
	own     []rule
	counted []int32
	// sure says, by counted census, that the pod is counted wherever it goes.
	sure     []bool
	feasible []bool
	price    []float64
	// next is, by domain, the first node that may have room.
	next []int32
	rest int32
	got  []int32
	near bool
	// free says that the class is not counted: it is not dealt, but restricted.
	free bool
}

func (h *holder) run() {
	for c := range h.classes {
		h.part(int32(c))
	}
	slices.SortStableFunc(h.parts, func(a, b part) int {
		if a.near != b.near {
			if b.near {
				return -1
			}
			return 1
		}
		if o := cmp.Compare(h.classes[b.class].priority, h.classes[a.class].priority); o != 0 {
			return o
		}
		return cmp.Compare(some(a.feasible), some(b.feasible))
	})
	for h.pass() || h.bootstrap() {
	}
	h.split()
}

func some(list []bool) int {
	n := 0
	for _, ok := range list {
		if ok {
			n++
		}
	}
	return n
}

// part notes a class that minds the key.
func (h *holder) part(c int32) {
	cl := &h.classes[c]
	if cl.ties == nil || len(cl.reasons) > 0 {
		return
	}
	x := part{class: c, free: true, rest: int32(len(cl.pods))}
	for _, r := range cl.ties.own {
		if h.topo.censuses[r.census].key == h.d.key {
			x.own = append(x.own, r)
			x.near = x.near || r.kind == near
			x.free = x.free && r.kind != apart && r.kind != near
		}
	}
	for _, g := range cl.ties.counted {
		if h.topo.censuses[g].key == h.d.key {
			x.counted = append(x.counted, g)
			x.sure = append(x.sure, h.surely(cl, g))
			x.free = false
		}
	}
	if len(x.own)+len(x.counted) == 0 {
		return
	}
	x.got, x.next = make([]int32, len(h.d.values)), make([]int32, len(h.d.values))
	x.price = h.pricesFor(h.d, cl.offers)
	x.feasible = make([]bool, len(h.d.values))
	for v := range x.feasible {
		x.feasible[v] = h.fitsIn(cl, int32(v))
	}
	h.parts = append(h.parts, x)
}

// surely says whether pods of the class are counted wherever they may go.
func (h *holder) surely(cl *class, g int32) bool {
	c := &h.topo.censuses[g]
	if c.filter == nil {
		return true
	}
	for _, r := range cl.ties.own {
		if r.census == g {
			return true // its own filter
		}
	}
	if !h.l.pass[g].contains(h.choices.sets[cl.offers]) {
		return false
	}
	for i := range h.hosts {
		if h.hosts[i].suits(cl.spec) && !c.lets(&h.hosts[i]) {
			return false
		}
	}
	return true
}

// fitsIn says whether anything in the domain holds a pod of the class.
func (h *holder) fitsIn(cl *class, v int32) bool {
	set, in := h.choices.sets[cl.offers], h.d.sets[v]
	for o := set.next(0); o >= 0; o = set.next(o + 1) {
		if in.has(o) && fits(&cl.req, &h.bins[h.offers[o].bin].room, h.dims.n()) {
			return true
		}
	}
	for i := range h.hosts {
		x := &h.hosts[i]
		if x.at[h.k] == v && fits(&cl.req, &x.room, h.dims.n()) && x.within(cl.held) && x.suits(cl.spec) {
			return true
		}
	}
	return false
}

// pass deals what can be dealt and says whether there was anything.
func (h *holder) pass() bool {
	dealt := false
	for i := range h.parts {
		x := &h.parts[i]
		for x.rest > 0 && !x.free {
			v := h.choose(x)
			if v < 0 {
				break
			}
			h.put(x, v)
			dealt = true
		}
	}
	return dealt
}

// choose finds the domain for the next pod of a part: of those where all rules
// hold the one with the least counts, then the cheapest, then the emptiest.
func (h *holder) choose(x *part) int32 {
	best := int32(-1)
	for v := range int32(len(h.d.values)) {
		if x.feasible[v] && h.broken(x, v) == nil && (best < 0 || h.before(x, v, best)) {
			best = v
		}
	}
	return best
}

func (h *holder) before(x *part, a, b int32) bool {
	p, q := h.priceIn(x, a), h.priceIn(x, b)
	dearer := p < q*(1-1e-6) || q < p*(1-1e-6)
	if dearer && (h.dealing == cheapestFirst || h.dealing == freeFirst && (p == 0 || q == 0)) {
		return p < q
	}
	m, n := h.crowd(x, a), h.crowd(x, b)
	if m != n {
		return m < n
	}
	if m, n := h.company(x, a), h.company(x, b); m != n {
		return m > n
	}
	if dearer {
		return p < q
	}
	return h.load[a] < h.load[b]
}

// priceIn is what room for a pod costs in the domain: nothing where an
// existing node has some left.
func (h *holder) priceIn(x *part, v int32) float64 {
	if h.roomy(x, v) >= 0 {
		return 0
	}
	return x.price[v]
}

// roomy is the first node of the domain with room for a pod of the part, -1
// when there is none. Nodes only fill up, so that none is looked at twice.
func (h *holder) roomy(x *part, v int32) int {
	cl := &h.classes[x.class]
	for at := &x.next[v]; int(*at) < len(h.hosts); *at++ {
		host := &h.hosts[*at]
		if host.at[h.k] == v && fits(&cl.req, &h.slack[*at], h.dims.n()) && host.within(cl.held) &&
			host.with.allows(cl.ties, 1) > 0 && host.suits(cl.spec) {
			return int(*at)
		}
	}
	return -1
}

// company counts the reasons to go where others like the pod are already: what
// wants others apart, and those others, should not take up every domain.
func (h *holder) company(x *part, v int32) int {
	n := 0
	for i := range x.own {
		if r := &x.own[i]; r.kind == apart && r.max == 0 && h.l.most[r.census][v] == 0 {
			n++
		}
	}
	for _, g := range x.counted {
		if !h.topo.censuses[g].spread && h.l.hi[g][v] > 0 {
			n++
		}
	}
	return n
}

// crowd sums the counts that spreading over the domain would even out.
func (h *holder) crowd(x *part, v int32) int32 {
	n := int32(0)
	for _, g := range x.counted {
		if h.topo.censuses[g].spread {
			n += h.l.hi[g][v]
		}
	}
	return n
}

// broken is a rule that keeps one more pod of the part out of the domain, nil
// when none does.
func (h *holder) broken(x *part, v int32) *rule {
	for i := range x.own {
		r := &x.own[i]
		more := int32(0)
		if slices.Contains(x.counted, r.census) {
			more = 1
		}
		if !h.l.keeps(r, v, more) {
			return r
		}
	}
	for _, g := range x.counted {
		if h.l.hi[g][v] >= h.l.most[g][v] {
			return &rule{kind: apart, census: g}
		}
	}
	return nil
}

func (h *holder) put(x *part, v int32) {
	x.rest--
	x.got[v]++
	if at := h.roomy(x, v); at >= 0 {
		h.slack[at].add(&h.classes[x.class].req, -1)
	}
	h.load[v] += h.size(&h.classes[x.class].req)
	h.l.count(x, v, 1)
}

// count adds n pods of a part to the domain.
func (l *ledger) count(x *part, v, n int32) {
	for i, g := range x.counted {
		l.hi[g][v] += n
		if x.sure[i] {
			l.lo[g][v] += n
		}
	}
	for i := range x.own {
		switch r := &x.own[i]; r.kind {
		case apart:
			l.most[r.census][v] = min(l.most[r.census][v], r.max)
		case near:
			if slices.Contains(x.counted, r.census) {
				l.following[r.census][v] += n
			}
		case spreads, evenly:
		}
	}
}

// bootstrap places the first pod of one set of pods that want to be near each
// other, where all of them find a place.
func (h *holder) bootstrap() bool {
	for i := range h.parts {
		x := &h.parts[i]
		if !x.near || x.free || x.rest == 0 || !h.first(x) {
			continue
		}
		if v := h.home(x); v >= 0 {
			h.put(x, v)
			return true
		}
	}
	return false
}

// first says whether the pod may be the first of its kind: nobody that it
// wants near is anywhere, and it counts itself.
func (h *holder) first(x *part) bool {
	for i := range x.own {
		r := &x.own[i]
		if r.kind == near && (!slices.Contains(x.counted, r.census) || h.l.elsewhere(r, -1)) {
			return false
		}
	}
	return true
}

// elsewhere says whether the rule's census counts anybody outside domain v.
func (l *ledger) elsewhere(r *rule, v int32) bool {
	for w, n := range l.hi[r.census] {
		if int32(w) != v && n > 0 {
			return true
		}
	}
	return false
}

// home is the domain where most pods of the same wish find a place, then the
// cheapest, then the emptiest.
func (h *holder) home(x *part) int32 {
	best, most := int32(-1), int32(0)
	for v := range int32(len(h.d.values)) {
		n := int32(0)
		if !x.feasible[v] || h.barred(x, v) {
			continue
		}
		for j := range h.parts {
			if y := &h.parts[j]; y.feasible[v] && y.shares(x) {
				n += y.rest
			}
		}
		if n > most || n == most && best >= 0 && h.before(x, v, best) {
			best, most = v, n
		}
	}
	return best
}

// barred says whether a rule other than the wish for company is in the way.
func (h *holder) barred(x *part, v int32) bool {
	alone := *x
	alone.own = nil
	for _, r := range x.own {
		if r.kind != near {
			alone.own = append(alone.own, r)
		}
	}
	return h.broken(&alone, v) != nil
}

// shares says whether both want the same pods near.
func (x *part) shares(y *part) bool {
	for _, r := range x.own {
		if r.kind == near && slices.Contains(y.own, r) {
			return true
		}
	}
	return false
}

// split makes classes of the parts.
func (h *holder) split() {
	drop := make([]bool, len(h.classes))
	var more []class
	for i := range h.parts {
		x := &h.parts[i]
		cl := &h.classes[x.class]
		drop[x.class] = true
		at := 0
		take := func(n int32, values bitset, note string) *class {
			next := *cl
			next.pods = cl.pods[at : at+int(n)]
			at += int(n)
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
					values := newBitset(len(h.d.values))
					values.set(int32(v))
					next := take(n, values, " @"+h.d.values[v])
					next.seats = append(slices.Clip(cl.seats), seat{x, int32(v)})
				}
			}
		}
		if rest := cl.pods[at:]; len(rest) > 0 {
			next := *cl
			next.pods = rest
			if some(x.feasible) > 0 {
				next.reasons = []model.Reason{h.reason(x)}
			} else if len(x.own) > 0 { // what is wrong is not topology
				values := newBitset(len(h.d.values))
				values.setRange(0, int32(len(h.d.values)))
				next.held = append(slices.Clip(cl.held), held{h.k, values})
				next.offers = h.restrict(cl.offers, values)
			}
			next.key += " @"
			more = append(more, next)
		}
	}
	for c := range h.classes {
		if !drop[c] {
			more = append(more, h.classes[c])
		}
	}
	h.classes = more
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
	in := newBitset(len(h.offers))
	for v := values.next(0); v >= 0; v = values.next(v + 1) {
		in.or(h.d.sets[v])
	}
	in.and(h.choices.sets[choice])
	return h.choices.id(in)
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
