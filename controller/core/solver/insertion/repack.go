package insertion

import (
	"math"
	"slices"
	"strconv"

	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// Repack packs the pods on new nodes again, all at once. Every pod keeps the domains
// that insertion chose, so that the constraints between pods still hold. Nodes with
// pods that have affinity on their own node are kept as they are. It returns nil
// when a pod finds no place. It replaces the problem's classes, so the plan of the
// insertion must be written before.
func (t *Insertion) Repack() *commit.Attempt {
	var kept []*commit.Node
	t.nodes = slices.DeleteFunc(t.nodes, func(n insertedNode) bool {
		keep := slices.ContainsFunc(n.node.Placed, func(k problem.ClassCount) bool { return t.p.Classes[k.Class].NeedsOthersOnHost() > 0 })
		if keep {
			kept = append(kept, n.node)
		}
		return keep
	})
	s := classSplitter{t: t, left: map[string]int32{}, keptKeys: make([]string, len(t.p.Classes))}
	for c := range t.p.Classes {
		s.split(c, s.regionsOf(int32(c)))
	}
	s.classes = problem.SortClasses(s.classes)
	numbers, left := map[string]int32{}, make([]int32, len(s.classes))
	for c := range s.classes {
		numbers[s.classes[c].Key], left[c] = int32(c), s.left[s.classes[c].Key]
	}
	renumber := func(takes []problem.ClassCount) {
		for i := range takes {
			takes[i].Class = numbers[s.keptKeys[takes[i].Class]]
		}
	}
	for i := range t.hosts {
		renumber(t.hosts[i].Placed)
	}
	t.p.Classes = s.classes
	a, _ := commit.Best(t.p, t.Attempt.Options, left)
	if slices.ContainsFunc(a.Left, func(n int32) bool { return n > 0 }) {
		return nil
	}
	for _, n := range kept {
		o := n.Options[0]
		renumber(n.Placed)
		n.Options, n.Costs = nil, nil
		if !a.Add(n, o) {
			return nil
		}
	}
	return a
}

// classSplitter splits classes into parts.
type classSplitter struct {
	t       *Insertion
	classes []problem.Class
	// left are the pods to pack, by the key of their class.
	left map[string]int32
	// keptKeys are, by old class, the keys of the part whose pods stay where they
	// are.
	keptKeys []string
}

// split splits class c into its pods that stay, its pods to pack in each region, and
// its pods without a place.
func (s *classSplitter) split(c int, regions []region) {
	news := int32(0)
	for i := range regions {
		news += regions[i].n
	}
	at := int32(0)
	if n := int32(len(s.t.p.Classes[c].Pods)) - s.t.Attempt.Left[c] - news; n > 0 {
		s.keptKeys[c] = s.add(c, at, n, "on").Key
		at += n
	}
	for i := range regions {
		g := &regions[i]
		next := s.add(c, at, g.n, strconv.Itoa(g.partition))
		s.left[next.Key] = g.n
		at += g.n
		if g.offers != nil {
			g.offers.And(s.t.p.Choices.All[next.Choice])
			next.Choice = s.t.p.Choices.ID(g.offers)
		}
	}
	if n := s.t.Attempt.Left[c]; n > 0 {
		s.add(c, at, n, "out").Reasons = s.t.p.Classes[c].Reasons
	}
}

// add adds a class of n pods of class c, from index at of its list.
func (s *classSplitter) add(c int, at, n int32, note string) *problem.Class {
	next := s.t.p.Classes[c]
	next.Pods, next.Key, next.Reasons = next.Pods[at:at+n], next.Key+" @"+note, nil
	s.classes = append(s.classes, next)
	return &s.classes[len(s.classes)-1]
}

// region is a number of pods of a class on new nodes, and the offers among which
// they may move; nil means all. partition is the first of the equal partitions.
type region struct {
	partition int
	offers    vec.Bits
	n         int32
}

// regionsOf groups the pods of a class on new nodes by position, as far as the
// position matters to any constraint.
func (s *classSplitter) regionsOf(c int32) []region {
	var out []region
	matters := s.relevantGroups(&s.t.p.Classes[c])
	for i := range s.t.nodes {
		for _, k := range s.t.nodes[i].node.Placed {
			if k.Class != c {
				continue
			}
			x := s.t.nodes[i].partition
			first := slices.IndexFunc(s.t.partitions, func(y offerPartition) bool {
				return s.samePosition(matters, &y.topologyPosition, &s.t.partitions[x].topologyPosition)
			})
			at := slices.IndexFunc(out, func(g region) bool { return g.partition == first })
			if at < 0 {
				at = len(out)
				out = append(out, region{partition: first, offers: s.equivalentOffers(matters, first)})
			}
			out[at].n += k.N
		}
	}
	return out
}

// relevantGroups returns the topology groups for which the positions of the class's
// pods matter: those of its own rules, and those that count it and that constraints
// of placed pods refer to.
func (s *classSplitter) relevantGroups(cl *problem.Class) []int32 {
	var out []int32
	if cl.Terms == nil {
		return nil
	}
	for i := range cl.Terms.DomainRules {
		out = append(out, cl.Terms.DomainRules[i].Group)
	}
	for _, g := range cl.Terms.DomainGroups {
		if len(s.t.rules.active[g]) > 0 || slices.ContainsFunc(s.t.rules.counts.Limit[g], func(n int32) bool { return n < math.MaxInt32 }) {
			out = append(out, g)
		}
	}
	return out
}

// samePosition reports whether two positions are equal for the topology groups.
func (s *classSplitter) samePosition(matters []int32, x, y *topologyPosition) bool {
	for _, g := range matters {
		if x.domain[s.t.rules.groupKeys[g]] != y.domain[s.t.rules.groupKeys[g]] || x.counted[g] != y.counted[g] {
			return false
		}
	}
	return true
}

// equivalentOffers returns the offers of all partitions that have the same position
// as partition x for the topology groups; nil means all offers.
func (s *classSplitter) equivalentOffers(matters []int32, x int) vec.Bits {
	if len(matters) == 0 {
		return nil
	}
	set := s.t.partitions[x].offers.Clone()
	for y := range s.t.partitions {
		if s.samePosition(matters, &s.t.partitions[x].topologyPosition, &s.t.partitions[y].topologyPosition) {
			set.Or(s.t.partitions[y].offers)
		}
	}
	return set
}
