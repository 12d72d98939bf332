package solver

import "slices"

// fluid prices the rows as if pods and nodes could be poured: what all rows
// ask for together, bought as a mixture of sites at the least cost. Its prices
// of resources, max prices.demand where no site's room is worth more than the
// site costs, are near those of the program when nodes hold many pods, and a
// much better start than the price that each row pays alone.
func (k *packer) fluid(worth []float64) {
	var demand [maxDims]float64
	for i := range k.rows {
		for r := range k.n {
			demand[r] += float64(k.reqs[i][r] * float64(k.rows[i].n))
		}
	}
	price := k.prices(&demand)
	for i := range k.rows {
		w := 0.0
		for r := range k.n {
			w += float64(price[r] * k.reqs[i][r])
		}
		// Rows of equal density would make every relaxed filling a tie.
		worth[i] = w * (1 + float64(1e-4*float64(len(k.rows)-i)/float64(len(k.rows))))
	}
}

// maxPoured is up to how many pods a block is priced without a program. Where
// few nodes hold them all, most of a program's solution is lost in rounding,
// and what counts is that fills are many and worths roughly right.
const maxPoured = 2000

// pourable says whether pouring will do for the block. Pods that keep
// others off their nodes need more of them, which pouring does not see.
func (b *block) pourable() bool {
	return b.pods() <= maxPoured && !slices.ContainsFunc(b.rows, func(r row) bool { return r.apart >= 0 })
}

// pour prices the rows of a block without a program. A row of what is plentiful
// still is worth something, or nobody would serve it.
func (b *block) pour() {
	b.guess()
	least := slices.Clone(b.worth)
	b.fluid(b.worth)
	for i := range b.worth {
		b.worth[i] = max(b.worth[i], 0.01*least[i])
	}
	b.level()
}

// level scales the worths so that the best site is just worth its cost.
func (b *block) level() {
	best := 0.0
	for s := range b.sites {
		t := &b.sites[s]
		best = max(best, b.ceiling(t)/t.cost)
	}
	for i := range b.worth {
		b.worth[i] /= best
	}
	for s := range b.sites {
		for r := range b.sites[s].hint {
			b.sites[s].hint[r] /= best
		}
	}
}
