package packing

import (
	"cmp"
	"slices"
)

// Bounds of the polishing, which looks at single bins.
const (
	// maxPolished is how many bins, the ones that pay least, are looked at: 40 cost
	// 0.02 %, 400 save 0.01 %.
	maxPolished = 160
	// ruins is how many groups of bins are packed again: none cost 0.09 %.
	ruins = 24
	// patience is how many groups may bring nothing before polishing ends: 3 cost 0.004 %,
	// 12 save nothing and take 12 % more time.
	patience = 6
	// ruinSize is how many bins are packed again together: 3 and 8 cost 0.01 % either way.
	ruinSize = 5
)

// polish improves a packing bin by bin: it joins pairs that one bin could hold for
// less, then takes apart the bins that pay least, a few at a time, and packs their
// items again (ruin and recreate).
func (s *search) polish(list []Batch) []Batch {
	g := newMerger(s.m)
	kept, singles := s.singles(list)
	singles = g.merge(singles)
	for round, idle := 0, 0; round < min(ruins, s.options.Effort) && idle < patience; round++ {
		var better bool
		singles, better = s.ruin(singles, round)
		if idle++; better {
			singles, idle = g.merge(singles), 0
		}
	}
	return append(kept, singles...)
}

// singles splits off the bins that pay least, each on its own.
func (s *search) singles(list []Batch) (kept, singles []Batch) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, s.byRate)
	for i, f := range list {
		for f.Times > 0 && len(singles) < maxPolished {
			singles = append(singles, Batch{f.Pattern, 1})
			f.Times--
		}
		if f.Times > 0 {
			kept = append(append(kept, f), list[i+1:]...)
			break
		}
	}
	return kept, singles
}

// byRate orders batches by what their items are worth for their cost.
func (s *search) byRate(a, b Batch) int { return cmp.Compare(s.p.rate(a), s.p.rate(b)) }

// ruin takes some bins apart and packs their items again. It keeps the result if
// that costs less.
func (s *search) ruin(singles []Batch, round int) ([]Batch, bool) {
	if len(singles) < 2 {
		return singles, false
	}
	slices.SortStableFunc(singles, s.byRate)
	s.p.left.empty()
	before := 0.0
	var rest []Batch
	for i, f := range singles {
		// A window over the bins, worst first, and now and then a wide comb.
		at := i - round/2*2
		if round%2 == 1 {
			at = (i - round/2) / 3
			if (i-round/2)%3 != 0 {
				at = -1
			}
		}
		if at < 0 || at >= ruinSize {
			rest = append(rest, f)
			continue
		}
		before += s.m.bins[f.Bin].cost
		s.p.left.give(f.Pattern)
	}
	again := s.p.greedy(nil, 1)
	s.m.downsize(again)
	if s.m.total(again) >= before*(1-1e-9) {
		return singles, false
	}
	for _, f := range again {
		for range f.Times {
			rest = append(rest, Batch{f.Pattern, 1})
		}
	}
	return rest, true
}
