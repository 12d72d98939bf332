package packing

const (
	// fewShapes is up to how many items a block has, on average, when packing blocks
	// apart misses items that go well together. It matters for packings of more than
	// maxImproved bins only: of the 40 plans, none differs between 0 and 1,000.
	fewShapes = 12
	// maxImproved is how many bins a packing may have for single ones to matter:
	// none cost 0.72 %, 100 cost 0.10 %, 2,000 save 0.02 % for a tenth more time.
	maxImproved = 400
	// MaxFirstFit is up to how many items first fit is tried; with more, it has never
	// been the best: 1,000 take 40 % more time for nothing. It is for small plans with
	// many constraints, of which the mixes have none.
	MaxFirstFit = 300
)

// improve looks for something better than the rounded masters: packing everything at
// once by initial duals does well on few items and on many different constraints,
// and single bins can be polished. blocks is how many there were.
func (s *search) improve(list []Batch, blocks int) []Batch {
	best, polished := list, bins(list) <= maxImproved
	if !polished && len(s.m.items) > fewShapes*blocks {
		return best
	}
	s.m.initialDuals(s.p.dual)
	items := count(s.m.items)
	if polished && blocks > 1 && items > MaxFirstFit && items <= maxAggregate {
		return s.polish(best) // the aggregate program's duals have never done worse
	}
	s.p.left.refill()
	if items <= MaxFirstFit { // do all that no effort would do, and more
		s.active = nil
		s.p.forget()
	}
	others := [][]Batch{s.p.greedy(s.active, 1)}
	if items <= MaxFirstFit {
		others = append(others, firstFit(s.m, nil), firstFit(s.m, s.oneFamily))
	}
	for _, other := range others {
		s.m.downsize(other)
		if s.m.total(other) < s.m.total(best)*(1-1e-9) {
			best = other
		}
	}
	if polished {
		best = s.polish(best)
	}
	return best
}

// oneFamily leaves a bin the family of the cheapest that it may be.
func (s *search) oneFamily(n *openBin) {
	family := func(b int32) int32 { return s.in.BinTypes[s.m.bins[b].kind].Family }
	first := n.bins.Next(0)
	for b := first; b >= 0; b = n.bins.Next(b + 1) {
		if family(b) != family(first) {
			n.bins.Unset(b)
		}
	}
}
