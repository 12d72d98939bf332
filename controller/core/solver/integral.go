package solver

import (
	"cmp"
	"math"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// solved is a block's program with its patterns in order of rounding.
type solved struct {
	*block
	patterns []*pattern
	nodes    float64
}

func newSolved(b *block) solved {
	s := solved{block: b}
	if b.master == nil {
		return s
	}
	for _, f := range b.master.basis {
		if f != nil && f.amount > 0 {
			s.patterns = append(s.patterns, f)
			s.nodes += f.amount
		}
	}
	slices.SortStableFunc(s.patterns, func(a, b *pattern) int {
		return cmp.Compare(b.amount-math.Floor(b.amount), a.amount-math.Floor(a.amount))
	})
	return s
}

// value is the cost of the program's solution in fractions.
func (s *solved) value() float64 {
	sum := 0.0
	for _, f := range s.patterns {
		sum += float64(f.amount * s.binTypes[f.binType].cost)
	}
	return sum
}

// integral makes whole nodes of the programs' fractions: it rounds in a few
// ways, packs what is left, and keeps the cheapest result.
func (k *packer) integral(parts []solved) []packing {
	nodes := 0.0
	for i := range parts {
		nodes += parts[i].nodes
	}
	var best []packing
	least := math.Inf(1)
	tries := roundings(nodes)
	if nodes == 0 { // there is nothing to round
		tries = tries[:1]
	}
	for try, up := range tries {
		near := 0.99
		if try%2 == 1 {
			near = 1
		}
		k.refill()
		var list []packing
		for i := range parts {
			list = parts[i].round(k, up, list)
		}
		list = append(list, k.greedy(near)...)
		k.downsize(list)
		if c := k.totalCost(list); c < least-1e-9 {
			least, best = c, list
		}
	}
	return best
}

// manyRounded is from how many nodes on fewer roundings are tried.
const manyRounded = 200

// roundings are the thresholds worth trying: the more nodes, the less the
// rounding matters.
func roundings(nodes float64) []float64 {
	all := []float64{1e-6, 0.5, 0.25, 0.75, 0.1, 0.9}
	tries := len(all)
	if nodes > manyRounded {
		tries = max(1, int(float64(tries)*manyRounded/nodes))
	}
	return all[:tries]
}

// round takes every pattern as often as the program says, rounded down from up
// over the integer, as far as pods are left.
func (s *solved) round(k *packer, up float64, out []packing) []packing {
	s.refill()
	for _, f := range s.patterns {
		times := min(int32(f.amount+up), s.covers(f))
		if times <= 0 {
			continue
		}
		for q, i := range f.items {
			s.left[i] -= times * f.counts[q]
		}
		out = s.expand(k, f, times, out)
	}
	return out
}

// refill makes all pods wait again.
func (k *packer) refill() {
	for i := range k.items {
		k.left[i] = k.items[i].n
	}
}

// downsize moves every packing to the cheapest bin type that holds it.
func (k *packer) downsize(list []packing) {
	for i, f := range list {
		d := k.demand(f.pattern)
		if s := k.smallest(f.pattern, &d); s != f.binType {
			list[i].pattern = &pattern{binType: s, items: f.items, counts: f.counts}
		}
	}
}

func (k *packer) demand(f *pattern) (d vec.Vector) {
	for q, i := range f.items {
		d.Add(&k.items[i].request, int64(f.counts[q]))
	}
	return d
}

// smallest is the cheapest bin type that serves the pattern's items and holds the
// demand.
func (k *packer) smallest(f *pattern, demand *vec.Vector) int32 {
next:
	for s := range k.binTypes {
		if !vec.Fits(demand, &k.binTypes[s].capacity, k.n) {
			continue
		}
		for _, i := range f.items {
			if !k.binTypes[s].items.Has(i) {
				continue next
			}
		}
		return int32(s)
	}
	return f.binType
}

func (k *packer) totalCost(list []packing) float64 {
	sum := 0.0
	for _, f := range list {
		sum += float64(k.binTypes[f.binType].cost * float64(f.times))
	}
	return sum
}
