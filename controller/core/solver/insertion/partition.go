package insertion

import (
	"maps"
	"slices"

	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// maxPartitions is the largest number of offer partitions for which pods are placed
// one by one. 128 and 2,048 change no plan (docs/measurements/solver.md).
const maxPartitions = 512

// topologyPosition is a place for a pod as the constraints between pods see it.
type topologyPosition struct {
	// domain is by key the index of the domain, -1 for none. counted says by
	// topology group whether the group counts pods there.
	domain  []int32
	counted []bool
	// id is the same for equal positions.
	id int32
}

// offerPartition is a set of offers whose nodes are equal to all constraints between
// pods.
type offerPartition struct {
	topologyPosition
	offers   vec.Bits
	template int32
	// byCost are the offers of the set, the cheapest first.
	byCost []int32
	// useful is how many of all pods may use one of the offers, whatever their size.
	useful int
}

// hostPositions returns the positions of the hosts.
func hostPositions(p *problem.Problem, s *domains.Space, hosts []problem.Host) []topologyPosition {
	out := make([]topologyPosition, len(hosts))
	for i := range hosts {
		out[i] = topologyPosition{domain: s.DomainsOf(i), counted: make([]bool, len(p.Topology.All))}
		for g := range p.Topology.All {
			out[i].counted[g] = p.Counts(int32(g), &hosts[i])
		}
	}
	return out
}

// partitioner partitions offers.
type partitioner struct {
	p     *problem.Problem
	space *domains.Space
	list  []offerPartition
}

// newPartitions partitions the offers of every node template of a strategy by domain, and by the
// groups that count them; for a strategy with a fixed zone also by zone and capacity
// type. It returns nil when there are more than maxPartitions.
func newPartitions(p *problem.Problem, s *domains.Space, counts *domains.Counts, by *Strategy) *partitioner {
	t := &partitioner{p: p, space: s}
	t.begin(by)
	for k := range t.space.Keys {
		for i := range t.list {
			t.list[i].domain[k] = -1
		}
		for v, set := range t.space.Keys[k].Offers {
			t.splitPartitions(set, func(x *topologyPosition) { x.domain[k] = int32(v) })
		}
		if len(t.list) > maxPartitions {
			return nil
		}
	}
	t.splitByGroup(counts)
	if by.FixedZone {
		t.splitByZone()
	}
	if len(t.list) > maxPartitions {
		return nil
	}
	for i := range t.list {
		x := &t.list[i]
		for _, o := range t.p.Supply.Templates[x.template].ByCost {
			if x.offers.Has(o) {
				x.byCost = append(x.byCost, o)
			}
		}
		if by.MostUseful {
			x.useful = x.countUseful(p)
		}
	}
	return t
}

// begin makes a partition of each node template of a strategy.
func (t *partitioner) begin(by *Strategy) {
	for l := range t.p.Supply.Templates {
		if by.Templates != nil && !by.Templates.Has(int32(l)) {
			continue
		}
		set := vec.NewBits(len(t.p.Supply.Offers))
		set.SetRange(t.p.Supply.Templates[l].From, t.p.Supply.Templates[l].To)
		if t.p.Supply.DropTooLarge(set); !set.Empty() {
			s := topologyPosition{domain: make([]int32, len(t.space.Keys)), counted: make([]bool, len(t.p.Topology.All))}
			t.list = append(t.list, offerPartition{topologyPosition: s, offers: set, template: int32(l)})
		}
	}
}

// countUseful counts the pods that may use one of the partition's offers.
func (x *offerPartition) countUseful(p *problem.Problem) int {
	n := 0
	for c := range p.Classes {
		if p.OffersOf(&p.Classes[c]).Intersects(x.offers) {
			n += len(p.Classes[c].Pods)
		}
	}
	return n
}

// splitByGroup splits partitions by the groups that count pods there.
func (t *partitioner) splitByGroup(counts *domains.Counts) {
	for g, set := range counts.FilterOffers {
		if set != nil {
			t.splitPartitions(set, func(x *topologyPosition) { x.counted[g] = true })
			continue
		}
		for i := range t.list {
			t.list[i].counted[g] = true
		}
	}
}

// splitByZone splits partitions by zone and capacity type.
func (t *partitioner) splitByZone() {
	sets := map[[2]string]vec.Bits{}
	for o := range t.p.Supply.Offers {
		s := &t.p.Supply.Keys.Keys[t.p.Supply.Offers[o].Key]
		at := [2]string{s.Zone, s.CapacityType}
		if sets[at] == nil {
			sets[at] = vec.NewBits(len(t.p.Supply.Offers))
		}
		sets[at].Set(int32(o))
	}
	for _, at := range slices.SortedFunc(maps.Keys(sets), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		t.splitPartitions(sets[at], func(*topologyPosition) {})
	}
}

// splitPartitions splits the partitions that are partly in the set, and calls mark
// for those that are in it.
func (t *partitioner) splitPartitions(set vec.Bits, mark func(*topologyPosition)) {
	for i := range len(t.list) {
		x := &t.list[i]
		if !x.offers.Intersects(set) {
			continue
		}
		if !set.Contains(x.offers) {
			out := offerPartition{topologyPosition: topologyPosition{domain: slices.Clone(x.domain), counted: slices.Clone(x.counted)}, offers: x.offers.Clone(), template: x.template}
			for w := range out.offers {
				out.offers[w] &^= set[w]
			}
			x.offers = x.offers.Clone()
			x.offers.And(set)
			mark(&x.topologyPosition)
			t.list = append(t.list, out)
			continue
		}
		mark(&x.topologyPosition)
	}
}
