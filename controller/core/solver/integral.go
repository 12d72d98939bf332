package solver

import (
	"cmp"
	"math"
	"slices"
)

// solved is a block's program with its patterns in order of rounding.
type solved struct {
	*block
	patterns []*pattern
	nodes    float64
}

func newSolved(b *block) solved {
	s := solved{block: b}
	if b.program == nil {
		return s
	}
	for _, f := range b.program.basis {
		if f != nil && f.x > 0 {
			s.patterns = append(s.patterns, f)
			s.nodes += f.x
		}
	}
	slices.SortStableFunc(s.patterns, func(a, b *pattern) int {
		return cmp.Compare(b.x-math.Floor(b.x), a.x-math.Floor(a.x))
	})
	return s
}

// value is the cost of the program's solution in fractions.
func (s *solved) value() float64 {
	sum := 0.0
	for _, f := range s.patterns {
		sum += float64(f.x * s.sites[f.site].cost)
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
		if c := k.total(list); c < least-1e-9 {
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
		times := min(int32(f.x+up), s.covers(f))
		if times <= 0 {
			continue
		}
		for q, i := range f.idx {
			s.left[i] -= times * f.cnt[q]
		}
		out = s.expand(k, f, times, out)
	}
	return out
}

// refill makes all pods wait again.
func (k *packer) refill() {
	for i := range k.rows {
		k.left[i] = k.rows[i].n
	}
}

// downsize moves every packing to the cheapest site that holds it.
func (k *packer) downsize(list []packing) {
	for i, f := range list {
		d := k.demand(f.pattern)
		if s := k.smallest(f.pattern, &d); s != f.site {
			list[i].pattern = &pattern{site: s, idx: f.idx, cnt: f.cnt}
		}
	}
}

func (k *packer) demand(f *pattern) (d vec) {
	for q, i := range f.idx {
		d.add(&k.rows[i].req, int64(f.cnt[q]))
	}
	return d
}

// smallest is the cheapest site that serves the pattern's rows and holds the
// demand.
func (k *packer) smallest(f *pattern, demand *vec) int32 {
next:
	for s := range k.sites {
		if !fits(demand, &k.sites[s].room, k.n) {
			continue
		}
		for _, i := range f.idx {
			if !k.sites[s].rows.has(i) {
				continue next
			}
		}
		return int32(s)
	}
	return f.site
}

func (k *packer) total(list []packing) float64 {
	sum := 0.0
	for _, f := range list {
		sum += float64(k.sites[f.site].cost * float64(f.times))
	}
	return sum
}
