package packing

import (
	"math"

	"spokeshave.dev/controller/core/solver/vec"
)

// fractional is a block and the solution of its restricted master, in the order in
// which it is rounded; empty when it has none.
type fractional struct {
	*block

	shares []share
}

func newFractional(b *block) fractional {
	if b.master == nil {
		return fractional{block: b}
	}
	return fractional{b, b.master.solution()}
}

// bins is how many the solution has, in fractions.
func (s *fractional) bins() float64 {
	n := 0.0
	for _, f := range s.shares {
		n += f.amount
	}
	return n
}

// value is what the solution costs.
func (s *fractional) value() float64 {
	sum := 0.0
	for _, f := range s.shares {
		sum += float64(f.amount * s.p.m.bins[f.Bin].cost)
	}
	return sum
}

// integral makes whole bins of the masters' fractions: it rounds in a few ways, packs
// what is left, and keeps the cheapest result.
func (s *search) integral(parts []fractional) []Batch {
	total := 0.0
	for i := range parts {
		total += parts[i].bins()
	}
	var best []Batch
	least := math.Inf(1)
	tries := roundings(total)
	if total == 0 { // there is nothing to round
		tries = tries[:1]
	}
	for try, up := range tries {
		near := nearBest
		if try%2 == 1 {
			near = 1
		}
		s.p.left.refill()
		var list []Batch
		for i := range parts {
			list = parts[i].round(s.p, up, list)
		}
		list = append(list, s.p.greedy(s.active, near)...)
		s.m.downsize(list)
		if c := s.m.total(list); c < least-1e-9 {
			least, best = c, list
		}
	}
	return best
}

// nearBest is how near a filling has to come to the best promise in every other try;
// in the others it has to be the best. Which one is better varies: always the best saves
// 0.03 %.
const nearBest = 0.99

// manyRounded is from how many bins on fewer roundings are tried: 50 cost 0.08 % and save
// 4 % of time.
const manyRounded = 200

// roundings are the thresholds worth trying: the more bins, the less the rounding
// matters.
func roundings(bins float64) []float64 {
	all := []float64{1e-6, 0.5, 0.25, 0.75, 0.1, 0.9}
	tries := len(all)
	if bins > manyRounded {
		tries = max(1, int(float64(tries)*manyRounded/bins))
	}
	return all[:tries]
}

// round takes every pattern as often as the master says, rounded down from up over
// the integer, as far as items are left.
func (s *fractional) round(whole *pricer, up float64, out []Batch) []Batch {
	s.p.left.refill()
	for _, f := range s.shares {
		times := min(int32(f.amount+up), s.p.left.covers(f.Pattern))
		if times <= 0 {
			continue
		}
		s.p.left.take(f.Pattern, times)
		out = s.expand(whole, f.Pattern, times, out)
	}
	return out
}

// expand writes times bins of a block's pattern in items of the whole instance and
// takes them. Of an item that several blocks share, another one may have taken more than its part:
// bins get what is left of it, and there are fewer of them when nothing is.
func (b *block) expand(whole *pricer, f *Pattern, times int32, out []Batch) []Batch {
	for times > 0 {
		e := &Pattern{}
		copies := times
		for q, j := range f.Items {
			need := f.Counts[q]
			for _, i := range b.members[j] {
				n := min(need, whole.left.left[i])
				if n == 0 {
					continue
				}
				e.Items, e.Counts = append(e.Items, i), append(e.Counts, n)
				copies = min(copies, whole.left.left[i]/n)
				if need -= n; need == 0 {
					break
				}
			}
		}
		if len(e.Items) == 0 {
			break
		}
		whole.left.take(e, copies)
		d := whole.m.size(e)
		e.Bin = whole.m.cheapest(e, &d)
		out = append(out, Batch{e, copies})
		times -= copies
	}
	return out
}

// moreActive is how many bins of each block are active besides those that its master
// takes: 2 and 4 cost 0.02 and 0.01 %, 16 save nothing.
const moreActive = 8

// activate chooses the bins that greedy looks at: those that the masters take, and
// those that promise most in each block. The others are nearly always chosen by
// downsizing alone, which looks at all.
func (s *search) activate(parts []fractional) {
	index := make(map[int32]int32, len(s.m.bins))
	for b := range s.m.bins {
		index[s.m.bins[b].kind] = int32(b)
	}
	s.active = vec.NewBits(len(s.m.bins))
	set := func(b *block, at int32) {
		if to, ok := index[b.p.m.bins[at].kind]; ok {
			s.active.Set(to)
		}
	}
	for i := range parts {
		for _, f := range parts[i].shares {
			set(parts[i].block, f.Bin)
		}
		for _, b := range parts[i].promising() {
			set(parts[i].block, b)
		}
	}
}
