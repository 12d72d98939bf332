package solver

import (
	"slices"
	"sort"

	"spokeshave.dev/controller/core/model"
)

// bundler says which pods are to share a node. Every ward goes to a pod of
// those it wants, evenly; or, where there is none anywhere and it counts itself,
// to a group of its own kind: the scheduler lets the first of them begin, and the
// others have to follow it, so that there is one group.
type bundler struct {
	*problem
	hosts  []host
	afford bitset
	// ward says of classes that they are wards, rest how many of their pods have
	// no bundle.
	ward []bool
	rest []int32
	all  []bundle
}

// bundle makes classes of the pods that have to be planned together.
func (p *problem) bundle(hosts []host, w *wards) {
	f := bundler{problem: p, hosts: hosts, afford: newBudget(p).affordable()}
	f.divide(w)
	for c := range f.classes {
		cl := &f.classes[c]
		if !f.ward[c] && len(cl.reasons) == 0 && cl.follows() == 0 && cl.ties != nil && len(cl.ties.localCounted) > 0 {
			f.all = append(f.all, bundle{takes: []take{{int32(c), 1}}, n: cl.n()})
		}
	}
	for f.pass() || f.begin() {
	}
	f.write()
	p.classes = sortClasses(p.classes)
}

// divide makes classes of their own of wards, and of those refused.
func (f *bundler) divide(w *wards) {
	var out []class
	var ward []bool
	for i := range f.classes {
		cl := f.classes[i]
		var others, alone []int32
		refused := map[*model.Reason][]int32{}
		var order []*model.Reason
		for _, pod := range cl.pods {
			switch why := w.refused[pod]; {
			case len(why) > 0:
				if refused[&why[0]] == nil {
					order = append(order, &why[0])
				}
				refused[&why[0]] = append(refused[&why[0]], pod)
			case w.alone[pod]:
				alone = append(alone, pod)
			default:
				others = append(others, pod)
			}
		}
		add := func(pods []int32, note string, isWard bool) *class {
			next := cl
			next.pods, next.key = pods, cl.key+note
			out, ward = append(out, next), append(ward, isWard)
			return &out[len(out)-1]
		}
		if len(others) > 0 {
			add(others, "", false)
		}
		if len(alone) > 0 {
			add(alone, " ~", true)
		}
		for _, first := range order {
			add(refused[first], " !", false).reasons = w.refused[refused[first][0]]
		}
	}
	f.classes, f.ward = out, ward
	f.rest = make([]int32, len(out))
	for c := range out {
		if ward[c] {
			f.rest[c] = out[c].n()
		}
	}
}

// wants are the censuses that a class wants on its own node.
func (c *class) wants() []int32 {
	var out []int32
	for _, r := range c.ties.local {
		if r.kind == near {
			out = append(out, r.census)
		}
	}
	return out
}

// pass lets wards join and says whether any did.
func (f *bundler) pass() bool {
	joined := false
	for c, rest := range f.rest {
		if rest > 0 {
			f.join(int32(c))
			joined = joined || f.rest[c] < rest
		}
	}
	return joined
}

// join deals the wards of a class to the bundles that have all whom they want:
// evenly, and then as many as fit.
func (f *bundler) join(c int32) {
	wants := f.classes[c].wants()
	var homes []int
	total := int32(0)
	for i := range f.all {
		if !slices.ContainsFunc(wants, func(g int32) bool { return f.counts(&f.all[i], g) == 0 }) {
			homes, total = append(homes, i), total+f.all[i].n
		}
	}
	if total == 0 {
		return
	}
	share := (f.rest[c] + total - 1) / total
	for range 2 {
		for at := 0; at < len(homes) && f.rest[c] > 0; at++ {
			if split := f.load(homes[at], c, share); split >= 0 {
				homes = append(homes, split)
			}
		}
		share = f.rest[c]
	}
	if f.rest[c] > 0 {
		f.classes[c].alone = "the pods that it wants on its own node leave no room for it there, on any node or instance type that suits all of them"
	}
}

// load adds up to share pods of a class to every group of a bundle. Groups for
// which there are none make a bundle of their own, whose place it returns.
func (f *bundler) load(i int, c, share int32) int {
	b := f.all[i]
	k := f.most(&b, c, min(share, f.rest[c]))
	if k == 0 {
		return -1
	}
	n := min(b.n, f.rest[c]/k)
	f.rest[c] -= n * k
	f.all[i] = b.with(c, k)
	f.all[i].n = n
	if n == b.n {
		return -1
	}
	b.n -= n
	f.all = append(f.all, b)
	return len(f.all) - 1
}

// most is how many pods of a class, at most k, can join every group. One may
// also do so where only limits and headroom are in the way, which then say why
// the group has no place.
func (f *bundler) most(b *bundle, c, k int32) int32 {
	n := sort.Search(int(k), func(i int) bool {
		next := b.with(c, int32(i)+1)
		return !f.held(&next, f.afford)
	})
	if one := b.with(c, 1); n == 0 && f.held(&one, nil) {
		return 1
	}
	return int32(n)
}

// held says whether anything holds a group: one of the offers given, nil being
// all, or a node that is there.
func (f *bundler) held(b *bundle, offers bitset) bool {
	cl, ok := f.compose(b)
	if !ok {
		return false
	}
	set := f.choices.sets[cl.offers].clone()
	if offers != nil {
		set.and(offers)
	}
	return f.someFits(&cl.req, set) || slices.ContainsFunc(f.hosts, func(h host) bool {
		return fits(&cl.req, &h.room, f.dims.n()) && h.admits(&cl) && !f.ports.blocked(cl.ports, h.ports) && h.with.allows(cl.ties, 1) > 0
	})
}

// begin starts a bundle with the first ward that may be the first of its kind,
// and says whether there was one.
func (f *bundler) begin() bool {
	for c, rest := range f.rest {
		if rest == 0 || !f.first(int32(c)) {
			continue
		}
		if b := (bundle{takes: []take{{int32(c), 1}}, n: 1}); f.held(&b, nil) {
			f.rest[c]--
			f.all = append(f.all, b)
			return true
		}
	}
	return false
}

// first says whether all that the class wants near is its own kind, and nobody
// of it is anywhere.
func (f *bundler) first(c int32) bool {
	for _, g := range f.classes[c].wants() {
		if f.classes[c].ties.times(g) == 0 {
			return false
		}
		for i := range f.hosts {
			if s := f.hosts[i].with.of(g); s != nil && s.n > 0 {
				return false
			}
		}
		for i := range f.classes {
			cl := &f.classes[i]
			if begun := !f.ward[i] || f.rest[i] < cl.n(); begun && len(cl.reasons) == 0 && cl.ties != nil && cl.ties.times(g) > 0 {
				return false
			}
		}
	}
	return true
}

// write makes classes of the bundles that have wards.
func (f *bundler) write() {
	next := make([]int, len(f.classes))
	var out []class
	for i := range f.all {
		b := &f.all[i]
		if !slices.ContainsFunc(b.takes, func(t take) bool { return f.ward[t.class] }) {
			continue
		}
		cl, _ := f.compose(b)
		for range b.n {
			for _, t := range b.takes {
				cl.pods = append(cl.pods, f.classes[t.class].pods[next[t.class]:next[t.class]+int(t.n)]...)
				next[t.class] += int(t.n)
			}
		}
		out = append(out, cl)
	}
	for c := range f.classes {
		cl := f.classes[c]
		if cl.pods = cl.pods[next[c]:]; len(cl.pods) > 0 {
			out = append(out, cl)
		}
	}
	f.classes = out
}
