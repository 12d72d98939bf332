package solver

import (
	"cmp"
	"math"
	"slices"
)

// packer packs rows onto sites, the cheaper the better.
type packer struct {
	p    *problem
	n    int // resources in use
	rows []row
	sets []bitset
	// cost and byCost are the budget's; money is how much the billed price
	// counts beside the effective cost.
	cost   []float64
	byCost [][]int32
	money  float64
	sites  []site
	// worth is what a pod of each row is worth, in USD/hour.
	worth []float64
	left  []int32
	// reqs are the rows' requests, scaled.
	reqs [][maxDims]float64

	scratch scratch
	stats   *Stats
}

// pattern is a filling of a site: so many pods of these rows.
type pattern struct {
	site  int32
	idx   []int32
	cnt   []int32
	value float64
	x     float64 // how many of it the linear program takes
}

// costOf is what packing takes for the cost of a node: never 0, and the less
// money the better where effective costs tie.
func (k *packer) costOf(o int32) float64 {
	billed := k.p.offers[o].price.USD()
	return float64(k.cost[o]*(1-k.money)) + float64(billed*(k.money+1e-6)) + 1e-7
}

func (k *packer) prepare() {
	k.n = k.p.dims.n()
	k.left = make([]int32, len(k.rows))
	k.reqs = make([][maxDims]float64, len(k.rows))
	for i := range k.rows {
		k.left[i] = k.rows[i].n
		for r := range k.n {
			k.reqs[i][r] = float64(float64(k.rows[i].req[r]) * k.p.scale[r])
		}
	}
	k.scratch.cnt = make([]int32, len(k.rows))
	k.newSites()
	k.worth = make([]float64, len(k.rows))
	for i := range k.rows {
		k.worth[i] = math.Inf(1)
	}
	for s := range k.sites {
		t := &k.sites[s]
		for _, i := range t.plain {
			n := many(&k.rows[i].req, &t.room, k.rows[i].n, k.n)
			k.worth[i] = min(k.worth[i], t.cost/float64(n))
		}
		for _, i := range t.ported {
			k.worth[i] = min(k.worth[i], t.cost)
		}
	}
}

// pack fills nodes until nothing is left that fits one.
func (k *packer) pack(effort int) []packing {
	k.prepare()
	return k.greedy(0.98, true)
}

// fillings are the best fillings found for the sites at the present worths,
// where they are worth more than atLeast times the cost.
func (k *packer) fillings(atLeast float64) []*pattern {
	var out []*pattern
	for s := range k.sites {
		if f := k.fill(int32(s), atLeast); f != nil {
			out = append(out, f)
		}
	}
	return out
}

// covers is how often the pattern can be taken from what is left.
func (k *packer) covers(f *pattern) int32 {
	n := int32(math.MaxInt32)
	for j, i := range f.idx {
		n = min(n, k.left[i]/f.cnt[j])
	}
	return n
}

// packing is a pattern and how many nodes are filled so.
type packing struct {
	*pattern
	times int32
}

// greedy packs what is left, best value for money first. Patterns within cut
// of the best are taken before values are looked at again; whole says to take
// them as often as they apply, and not once.
func (k *packer) greedy(cut float64, whole bool) []packing {
	var out []packing
	for {
		found := k.fillings(0)
		if len(found) == 0 {
			return out
		}
		k.stats.Passes++
		slices.SortStableFunc(found, func(a, b *pattern) int {
			return cmp.Compare(b.value*k.sites[a.site].cost, a.value*k.sites[b.site].cost)
		})
		best := found[0].value / k.sites[found[0].site].cost
		for j, f := range found {
			if j > 0 && f.value/k.sites[f.site].cost < best*cut {
				break
			}
			times := k.covers(f)
			if times == 0 {
				continue
			}
			if !whole {
				times = 1
			}
			for q, i := range f.idx {
				k.left[i] -= times * f.cnt[q]
			}
			out = append(out, packing{f, times})
		}
	}
}
