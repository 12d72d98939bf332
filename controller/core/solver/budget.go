package solver

import "spokeshave.dev/controller/core/model"

// budget is what may still be launched, while a plan is being made.
type budget struct {
	p *problem
	// money is what each headroom has left; scopes lists, by pool, those that
	// bound it.
	money  []model.Price
	scopes [][]int32
	// limits are those of each pool.
	limits [][]limit
	// stock is what reservations have left, by offer of those that draw on one;
	// offers of several lanes share it.
	stock map[int32]*int
	// used counts the planned nodes by offer, taken is what they have of each
	// group, for tiers; members lists the offers of a group.
	used    []uint32
	taken   map[int32]float64
	members map[int32][]int32
	// cost is the present effective cost by offer, byCost each lane's offers
	// in its order.
	cost   []float64
	byCost [][]int32
	// tiered says that some cost depends on a number of nodes.
	tiered bool
}

func newBudget(p *problem) *budget {
	b := &budget{
		p:      p,
		scopes: make([][]int32, len(p.snap.Pools)),
		limits: make([][]limit, len(p.snap.Pools)),
		used:   make([]uint32, len(p.offers)),
		taken:  map[int32]float64{}, members: map[int32][]int32{},
		cost:   make([]float64, len(p.offers)),
		byCost: make([][]int32, len(p.lanes)),
	}
	for i := range p.in.Headroom {
		h := &p.in.Headroom[i]
		b.money = append(b.money, h.Left)
		for pool := range b.scopes {
			if h.Pools == nil || pool < len(h.Pools) && h.Pools[pool] {
				b.scopes[pool] = append(b.scopes[pool], int32(i))
			}
		}
	}
	for i := range p.snap.Pools {
		b.limits[i] = limits(&p.snap.Pools[i])
	}
	for o := range p.offers {
		b.cost[o] = p.offers[o].cost
		b.join(int32(o))
	}
	for l := range p.lanes {
		b.byCost[l] = p.lanes[l].byCost
	}
	b.fillStock()
	return b
}

// fillStock looks up how much is reserved. Lanes of one catalogue draw on the
// same reservation.
func (b *budget) fillStock() {
	type source struct{ catalog, typ, offering int32 }
	known := map[source]*int{}
	for o := range b.p.offers {
		f := &b.p.offers[o]
		r := b.p.offerType(int32(o)).Offerings[f.offering].Reservation
		if r == nil {
			continue
		}
		key := source{b.p.snap.Pools[b.p.lanes[f.lane].pool].Catalog, f.typ, f.offering}
		if known[key] == nil {
			known[key] = new(r.Free)
		}
		if b.stock == nil {
			b.stock = map[int32]*int{}
		}
		b.stock[int32(o)] = known[key]
	}
}

// money left for a pool, and the scope that leaves least; -1 when none does.
func (b *budget) left(pool int32) (least model.Price, scope int32) {
	scope = -1
	for _, s := range b.scopes[pool] {
		if scope < 0 || b.money[s] < least {
			least, scope = b.money[s], s
		}
	}
	return least, scope
}

// stocked says whether one more node of the offer is left of what is reserved; of
// what is not reserved there always is.
func (b *budget) stocked(o int32) bool {
	left := b.stock[o]
	return left == nil || *left > 0
}

// affords says whether one more node of the offer would keep all bounds.
func (b *budget) affords(o int32) bool {
	f := &b.p.offers[o]
	if !b.stocked(o) {
		return false
	}
	pool := b.p.lanes[f.lane].pool
	for _, s := range b.scopes[pool] {
		if f.price+b.p.fixed(f.lane) > b.money[s] {
			return false
		}
	}
	usage := b.p.bins[f.bin].usage
	for i, l := range b.limits[pool] {
		if usage[i] > l.left {
			return false
		}
	}
	return true
}

// bounded says whether the options of a pool's nodes change as the plan grows.
func (b *budget) bounded(pool int32) bool {
	return b.tiered || b.stock != nil || len(b.scopes[pool]) > 0 || len(b.limits[pool]) > 0
}

// affordable is the set of offers that one more node may be.
func (b *budget) affordable() bitset {
	set := newBitset(len(b.p.offers))
	for o := range b.p.offers {
		if b.affords(int32(o)) {
			set.set(int32(o))
		}
	}
	return set
}

// scarce is, by offer, the share of what is left that a node would take of
// limits and headroom, summed over them.
func (b *budget) scarce() []float64 {
	out := make([]float64, len(b.p.offers))
	for o := range b.p.offers {
		f := &b.p.offers[o]
		pool := b.p.lanes[f.lane].pool
		for _, s := range b.scopes[pool] {
			out[o] += float64(f.price+b.p.fixed(f.lane)) / float64(max(1, b.money[s]))
		}
		for i, l := range b.limits[pool] {
			out[o] += float64(b.p.bins[f.bin].usage[i]) / float64(max(1, l.left))
		}
	}
	return out
}

// reserve takes what a node may cost at worst, and reports false, taking
// nothing, when that is more than there is. options are its offers.
func (b *budget) reserve(pool int32, options []int32) bool {
	worst, need := b.worst(pool, options)
	for _, s := range b.scopes[pool] {
		if worst > b.money[s] {
			return false
		}
	}
	for i := range need {
		if need[i] > b.limits[pool][i].left {
			return false
		}
	}
	b.change(pool, worst, need, 1)
	return true
}

// release gives back what reserve took for the same options.
func (b *budget) release(pool int32, options []int32) {
	worst, need := b.worst(pool, options)
	b.change(pool, worst, need, -1)
}

// worst is what a node takes of money and limits, whichever of the offers it is.
func (b *budget) worst(pool int32, options []int32) (money model.Price, need []int64) {
	need = make([]int64, len(b.limits[pool]))
	for _, o := range options {
		money = max(money, b.p.offers[o].price+b.p.fixed(b.p.offers[o].lane))
		for i := range need {
			need[i] = max(need[i], b.p.bins[b.p.offers[o].bin].usage[i])
		}
	}
	return money, need
}

func (b *budget) change(pool int32, worst model.Price, need []int64, sign int64) {
	for _, s := range b.scopes[pool] {
		b.money[s] -= worst * model.Price(sign)
	}
	for i := range need {
		b.limits[pool][i].left -= need[i] * sign
	}
}
