package commit

import (
	"slices"
	"sort"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// Bounds is what may still be launched while a plan is made.
type Bounds struct {
	p *problem.Problem
	// headroom is what is left of each headroom. scopes is by pool the indexes of
	// those that apply to it.
	headroom []model.Price
	scopes   [][]int32
	// Limits are by pool what is left of its limits.
	Limits [][]supply.Limit
	// reserved is what is left of reservations, by offer, for offers that use one.
	// Offers of several node templates may share an entry.
	reserved map[int32]*int
	// used counts the planned nodes by offer. groupUse is the fraction of each group
	// that they use, and members lists the offers of a group. Both serve tiers.
	used     []uint32
	groupUse map[int32]float64
	members  map[int32][]int32
	// Cost is the current effective cost by offer. ByCost is by node template its
	// offers in order of cost.
	Cost   []float64
	ByCost [][]int32
	// Tiered is set when the cost of an offer depends on the number of nodes.
	Tiered bool
}

// NewBounds returns what may be launched when a plan has no nodes. Every headroom must
// hold.
func NewBounds(p *problem.Problem, headroom []model.Headroom) *Bounds {
	b := newLimits(p, headroom)
	b.used = make([]uint32, len(p.Supply.Offers))
	b.Cost, b.ByCost = make([]float64, len(p.Supply.Offers)), make([][]int32, len(p.Supply.Templates))
	for o := range p.Supply.Offers {
		b.Cost[o] = p.Supply.Offers[o].Cost
	}
	for l := range p.Supply.Templates {
		b.ByCost[l] = p.Supply.Templates[l].ByCost
	}
	return b
}

// newLimits returns bounds that do not know the costs of offers.
func newLimits(p *problem.Problem, headroom []model.Headroom) *Bounds {
	b := &Bounds{
		p:        p,
		scopes:   make([][]int32, len(p.Snapshot.Pools)),
		Limits:   make([][]supply.Limit, len(p.Snapshot.Pools)),
		groupUse: map[int32]float64{}, members: map[int32][]int32{},
	}
	for i := range headroom {
		h := &headroom[i]
		b.headroom = append(b.headroom, h.Left)
		for pool := range b.scopes {
			if h.Pools == nil || pool < len(h.Pools) && h.Pools[pool] {
				b.scopes[pool] = append(b.scopes[pool], int32(i))
			}
		}
	}
	for i := range p.Snapshot.Pools {
		b.Limits[i] = supply.LimitsOf(&p.Snapshot.Pools[i])
	}
	if supply.Ranked(p.Supply) {
		for o := range p.Supply.Offers {
			b.indexTiers(int32(o))
		}
	}
	if p.Supply.Reserves {
		b.readReservations()
	}
	return b
}

// Launchable returns the set of offers that the first new node of a plan may be launched
// as. Every headroom must hold, and pools must be able to meet their minValues.
func Launchable(p *problem.Problem, headroom []model.Headroom) vec.Bits {
	set := withinBounds(p, headroom)
	p.Supply.DropTooLarge(set)
	return set
}

// withinBounds returns the set of offers that limits, headroom and reservations allow for the
// first new node.
func withinBounds(p *problem.Problem, headroom []model.Headroom) vec.Bits {
	if len(headroom) > 0 || p.Supply.Reserves || slices.ContainsFunc(p.Snapshot.Pools, func(x model.Pool) bool { return len(x.Limits) > 0 }) {
		return NewBounds(p, headroom).Affordable()
	}
	set := vec.NewBits(len(p.Supply.Offers)) // nothing bounds the plan
	set.SetRange(0, int32(len(p.Supply.Offers)))
	return set
}

// readReservations sets reserved. Node templates with the same catalogue use the
// same reservations.
func (b *Bounds) readReservations() {
	type source struct{ catalog, typ, offering int32 }
	known := map[source]*int{}
	for o := range b.p.Supply.Offers {
		f := &b.p.Supply.Offers[o]
		r := b.p.Supply.OfferType(int32(o)).Offerings[f.Offering].Reservation
		if r == nil {
			continue
		}
		key := source{b.p.Snapshot.Pools[b.p.Supply.Templates[f.Template].Pool].Catalog, f.Type, f.Offering}
		if known[key] == nil {
			known[key] = new(r.Free)
		}
		if b.reserved == nil {
			b.reserved = map[int32]*int{}
		}
		b.reserved[int32(o)] = known[key]
	}
}

// HeadroomLeft returns the least headroom that a pool has, and its scope; scope is -1 when
// no headroom applies.
func (b *Bounds) HeadroomLeft(pool int32) (least model.Price, scope int32) {
	scope = -1
	for _, s := range b.scopes[pool] {
		if scope < 0 || b.headroom[s] < least {
			least, scope = b.headroom[s], s
		}
	}
	return least, scope
}

// ReservationLeft reports whether one more node of the offer can be launched as far
// as its reservation goes; always true for an offer without one.
func (b *Bounds) ReservationLeft(o int32) bool {
	left := b.reserved[o]
	return left == nil || *left > 0
}

// affords reports whether one more node of the offer would satisfy all bounds.
func (b *Bounds) affords(o int32) bool {
	f := &b.p.Supply.Offers[o]
	if !b.ReservationLeft(o) {
		return false
	}
	pool := b.p.Supply.Templates[f.Template].Pool
	for _, s := range b.scopes[pool] {
		if f.Price+b.p.Supply.FixedCost(f.Template) > b.headroom[s] {
			return false
		}
	}
	usage := b.p.Supply.Shapes[f.Shape].Usage
	for i, l := range b.Limits[pool] {
		if usage[i] > l.Left {
			return false
		}
	}
	return true
}

// Bounded reports whether the options of a pool's nodes depend on the rest of the
// plan.
func (b *Bounds) Bounded(pool int32) bool {
	return b.Tiered || b.reserved != nil || len(b.scopes[pool]) > 0 || len(b.Limits[pool]) > 0
}

// Affordable returns the set of offers that one more node may be launched as.
func (b *Bounds) Affordable() vec.Bits {
	set := vec.NewBits(len(b.p.Supply.Offers))
	for l := range b.p.Supply.Templates {
		t := &b.p.Supply.Templates[l]
		if b.reserved == nil && len(b.scopes[t.Pool]) == 0 && len(b.Limits[t.Pool]) == 0 {
			set.SetRange(t.From, t.To)
			continue
		}
		for o := t.From; o < t.To; o++ {
			if b.affords(o) {
				set.Set(o)
			}
		}
	}
	return set
}

// scarcity returns, by offer, the sum over limits and headrooms of the share of what
// is left that a node would use.
func (b *Bounds) scarcity() []float64 {
	out := make([]float64, len(b.p.Supply.Offers))
	for o := range b.p.Supply.Offers {
		f := &b.p.Supply.Offers[o]
		pool := b.p.Supply.Templates[f.Template].Pool
		for _, s := range b.scopes[pool] {
			out[o] += float64(f.Price+b.p.Supply.FixedCost(f.Template)) / float64(max(1, b.headroom[s]))
		}
		for i, l := range b.Limits[pool] {
			out[o] += float64(b.p.Supply.Shapes[f.Shape].Usage[i]) / float64(max(1, l.Left))
		}
	}
	return out
}

// reserve deducts the most that a node may cost, whichever of its options it
// becomes. It returns false and deducts nothing when less than that is left.
func (b *Bounds) reserve(pool int32, options []int32) bool {
	worst, need := b.worst(pool, options)
	for _, s := range b.scopes[pool] {
		if worst > b.headroom[s] {
			return false
		}
	}
	for i := range need {
		if need[i] > b.Limits[pool][i].Left {
			return false
		}
	}
	b.change(pool, worst, need, 1)
	return true
}

// release reverses reserve for the same options.
func (b *Bounds) release(pool int32, options []int32) {
	worst, need := b.worst(pool, options)
	b.change(pool, worst, need, -1)
}

// worst returns the most money, per hour, and the most of each limit that a node
// uses over its options.
func (b *Bounds) worst(pool int32, options []int32) (money model.Price, need []int64) {
	need = make([]int64, len(b.Limits[pool]))
	for _, o := range options {
		money = max(money, b.p.Supply.Offers[o].Price+b.p.Supply.FixedCost(b.p.Supply.Offers[o].Template))
		for i := range need {
			need[i] = max(need[i], b.p.Supply.Shapes[b.p.Supply.Offers[o].Shape].Usage[i])
		}
	}
	return money, need
}

func (b *Bounds) change(pool int32, worst model.Price, need []int64, sign int64) {
	for _, s := range b.scopes[pool] {
		b.headroom[s] -= worst * model.Price(sign)
	}
	for i := range need {
		b.Limits[pool][i].Left -= need[i] * sign
	}
}

// first returns the index, in order of cost, of the template's first offer that
// costs at least the given amount.
func (b *Bounds) first(template int32, cost float64) int {
	list := b.ByCost[template]
	return sort.Search(len(list), func(i int) bool { return b.Cost[list[i]] >= cost })
}
