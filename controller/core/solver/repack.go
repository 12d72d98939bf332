package solver

import (
	"math"
	"slices"
	"strconv"
)

// repack packs the pods on new nodes again, all at once, where every pod keeps
// the domains that it was given in turn, so that the constraints between pods
// still hold; nil when somebody finds no place. Nodes with pods that want others
// on their own node are kept. It rewrites the classes: what was planned in turn
// has to be written before.
func (t *turns) repack() *attempt {
	var kept []*planned
	t.nodes = slices.DeleteFunc(t.nodes, func(n opened) bool {
		keep := slices.ContainsFunc(n.takes, func(k take) bool { return t.classes[k.class].follows() > 0 })
		if keep {
			kept = append(kept, n.planned)
		}
		return keep
	})
	s := splitter{turns: t, left: map[string]int32{}, settled: make([]string, len(t.classes))}
	for c := range t.classes {
		s.split(c, t.dealt(int32(c)))
	}
	s.classes = sortClasses(s.classes)
	numbers, left := map[string]int32{}, make([]int32, len(s.classes))
	for c := range s.classes {
		numbers[s.classes[c].key], left[c] = int32(c), s.left[s.classes[c].key]
	}
	renumber := func(takes []take) {
		for i := range takes {
			takes[i].class = numbers[s.settled[takes[i].class]]
		}
	}
	for i := range t.hosts {
		renumber(t.hosts[i].takes)
	}
	t.classes = s.classes
	a := t.best(left)
	if slices.ContainsFunc(a.left, func(n int32) bool { return n > 0 }) {
		return nil
	}
	for _, n := range kept {
		o := n.options[0]
		renumber(n.takes)
		n.options, n.costs = nil, nil
		if !a.accept(n, o, a.b.cost[o]) {
			return nil
		}
		a.nodes = append(a.nodes, n)
	}
	return a
}

// splitter makes classes of parts of others.
type splitter struct {
	*turns
	classes []class
	// left are the pods to pack, by the key of their class.
	left map[string]int32
	// settled are, by class before, the keys of the pods that stay where they are.
	settled []string
}

// split makes classes of a class: of the pods that stay, of those to pack in each
// region, and of those that found none.
func (s *splitter) split(c int, regions []region) {
	news := int32(0)
	for i := range regions {
		news += regions[i].n
	}
	at := int32(0)
	if n := int32(len(s.turns.classes[c].pods)) - s.a.left[c] - news; n > 0 {
		s.settled[c] = s.add(c, at, n, "on").key
		at += n
	}
	for i := range regions {
		g := &regions[i]
		next := s.add(c, at, g.n, strconv.Itoa(g.cell))
		s.left[next.key] = g.n
		at += g.n
		if g.set != nil {
			g.set.and(s.choices.sets[next.offers])
			next.offers = s.choices.id(g.set)
		}
	}
	if n := s.a.left[c]; n > 0 {
		s.add(c, at, n, "out").reasons = s.turns.classes[c].reasons
	}
}

// add makes a class of n pods of class c, the first of them at a place in its
// list.
func (s *splitter) add(c int, at, n int32, note string) *class {
	next := s.turns.classes[c]
	next.pods, next.key, next.reasons = next.pods[at:at+n], next.key+" @"+note, nil
	s.classes = append(s.classes, next)
	return &s.classes[len(s.classes)-1]
}

// region is a number of pods of a class on new nodes, and the offers among which
// they may move: nil for all. cell is the first of those that make it up.
type region struct {
	cell int
	set  bitset
	n    int32
}

// dealt groups the pods of a class on new nodes by the places that are the same
// to all who mind where they are.
func (t *turns) dealt(c int32) []region {
	var out []region
	matters := t.matters(&t.classes[c])
	for i := range t.nodes {
		for _, k := range t.nodes[i].takes {
			if k.class != c {
				continue
			}
			x := t.nodes[i].cell
			first := slices.IndexFunc(t.cells, func(y cell) bool { return t.alike(matters, &y.spot, &t.cells[x].spot) })
			at := slices.IndexFunc(out, func(g region) bool { return g.cell == first })
			if at < 0 {
				at = len(out)
				out = append(out, region{cell: first, set: t.likes(matters, first)})
			}
			out[at].n += k.n
		}
	}
	return out
}

// matters lists the censuses for which it matters where pods of the class are:
// those of their own rules, and those that count them and somebody relies on.
func (t *turns) matters(cl *class) []int32 {
	var out []int32
	if cl.ties == nil {
		return nil
	}
	for i := range cl.ties.own {
		out = append(out, cl.ties.own[i].census)
	}
	for _, g := range cl.ties.counted {
		if len(t.pledges[g]) > 0 || slices.ContainsFunc(t.l.most[g], func(n int32) bool { return n < math.MaxInt32 }) {
			out = append(out, g)
		}
	}
	return out
}

// alike says whether two places are the same to the censuses.
func (t *turns) alike(matters []int32, x, y *spot) bool {
	for _, g := range matters {
		if x.at[t.keys[g]] != y.at[t.keys[g]] || x.counts[g] != y.counts[g] {
			return false
		}
	}
	return true
}

// likes are the offers of all cells that are the same to the censuses as one of
// them; nil where that is all.
func (t *turns) likes(matters []int32, x int) bitset {
	if len(matters) == 0 {
		return nil
	}
	set := t.cells[x].set.clone()
	for y := range t.cells {
		if t.alike(matters, &t.cells[x].spot, &t.cells[y].spot) {
			set.or(t.cells[y].set)
		}
	}
	return set
}
