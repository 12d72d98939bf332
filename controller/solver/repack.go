package solver

import (
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
	groups, of := t.groups()
	s := splitter{turns: t, groups: groups, left: map[string]int32{}, settled: make([]string, len(t.classes))}
	for c, got := range t.dealt(of, len(groups)) {
		s.split(c, got)
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
	// groups are sets of offers that give pods the same domains.
	groups  []bitset
	classes []class
	// left are the pods to pack, by the key of their class.
	left map[string]int32
	// settled are, by class before, the keys of the pods that stay where they are.
	settled []string
}

// split makes classes of a class of which got are to be packed, by group: those
// that stay, those of each group, and those that found no place.
func (s *splitter) split(c int, got []int32) {
	news := int32(0)
	for _, n := range got {
		news += n
	}
	at := int32(0)
	if n := int32(len(s.turns.classes[c].pods)) - s.a.left[c] - news; n > 0 {
		s.settled[c] = s.add(c, at, n, "on").key
		at += n
	}
	for g, n := range got {
		if n == 0 {
			continue
		}
		next := s.add(c, at, n, strconv.Itoa(g))
		s.left[next.key] = n
		if at += n; g < len(s.groups) {
			in := s.groups[g].clone()
			in.and(s.choices.sets[next.offers])
			next.offers = s.choices.id(in)
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

// groups joins the cells that constraints do not tell apart, lanes or not: the
// offers of each, and the group of every cell.
func (t *turns) groups() (groups []bitset, of []int) {
	of = make([]int, len(t.cells))
	for i := range t.cells {
		x := &t.cells[i]
		same := slices.IndexFunc(t.cells[:i], func(y cell) bool { return slices.Equal(x.at, y.at) && slices.Equal(x.counts, y.counts) })
		if same < 0 {
			of[i] = len(groups)
			groups = append(groups, x.set.clone())
			continue
		}
		of[i] = of[same]
		groups[of[i]].or(x.set)
	}
	return groups, of
}

// dealt counts, by class and group, the pods on new nodes; those that may be
// anywhere come last.
func (t *turns) dealt(of []int, groups int) [][]int32 {
	out := make([][]int32, len(t.classes))
	for c := range out {
		out[c] = make([]int32, groups+1)
	}
	for i := range t.nodes {
		for _, k := range t.nodes[i].takes {
			g := groups
			if ties := t.classes[k.class].ties; ties != nil && len(ties.own)+len(ties.counted) > 0 {
				g = of[t.nodes[i].cell]
			}
			out[k.class][g] += k.n
		}
	}
	return out
}
