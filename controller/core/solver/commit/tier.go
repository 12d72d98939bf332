package commit

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/supply"
)

// fullGroup is how much of a group may be used. It exceeds 1 by the rounding error
// of sums of parts such as 1/3.
const fullGroup = 1 + 1e-9

// indexTiers records the groups that the offer's cost depends on.
func (b *Bounds) indexTiers(o int32) {
	for _, t := range b.p.Supply.Tiers(o) {
		b.Tiered = b.Tiered || t.Until > 0 || len(t.Shares) > 0
		for _, s := range t.Shares {
			if list := b.members[s.Group]; len(list) == 0 || list[len(list)-1] != o {
				b.members[s.Group] = append(list, o)
			}
		}
	}
}

// tier returns the first of the offer's tiers that has room for one more node, nil
// when the billed price is the cost.
func (b *Bounds) tier(o int32) *supply.Tier {
	tiers := b.p.Supply.Tiers(o)
	for i := range tiers {
		t := &tiers[i]
		if (t.Until == 0 || b.used[o] < t.Until) && !slices.ContainsFunc(t.Shares, func(s supply.Share) bool {
			return b.groupUse[s.Group]+s.Part > fullGroup
		}) {
			return t
		}
	}
	return nil
}

// use counts a node of the offer and updates the costs of all offers whose tier it
// fills. It returns what the node uses of groups.
func (b *Bounds) use(o int32) []supply.Share {
	var shares []supply.Share
	if b.Tiered {
		if t := b.tier(o); t != nil {
			shares = t.Shares
		}
	}
	b.reuse(o, shares)
	return shares
}

// reuse counts a node of the offer again after unuse, with the same shares.
func (b *Bounds) reuse(o int32, shares []supply.Share) {
	if left := b.reserved[o]; left != nil {
		*left--
	}
	b.used[o]++
	if b.Tiered {
		b.share(o, shares, 1)
	}
}

// unuse reverses use: it removes a node of the offer and what it used of groups.
func (b *Bounds) unuse(o int32, shares []supply.Share) {
	if left := b.reserved[o]; left != nil {
		*left++
	}
	b.used[o]--
	if b.Tiered {
		b.share(o, shares, -1)
	}
}

// share adds (sign 1) or subtracts (sign -1) what a node of the offer uses of
// groups, and updates all costs that depend on it.
func (b *Bounds) share(o int32, shares []supply.Share, sign float64) {
	var moved []int32
	for _, s := range shares {
		b.groupUse[s.Group] += float64(sign * s.Part)
	}
	for _, s := range shares {
		for _, f := range b.members[s.Group] {
			moved = b.reprice(f, moved)
		}
	}
	for _, template := range b.reprice(o, moved) {
		b.resort(template)
	}
}

// reprice updates the offer's cost and adds its node template to moved if it
// changed.
func (b *Bounds) reprice(o int32, moved []int32) []int32 {
	f := &b.p.Supply.Offers[o]
	cost := f.Price.USD()
	if t := b.tier(o); t != nil {
		cost = t.Cost
	}
	if cost == b.Cost[o] {
		return moved
	}
	b.Cost[o] = cost
	if slices.Contains(moved, f.Template) {
		return moved
	}
	return append(moved, f.Template)
}

func (b *Bounds) resort(template int32) {
	list := slices.Clone(b.ByCost[template])
	slices.SortStableFunc(list, func(x, y int32) int {
		if c := cmp.Compare(b.Cost[x], b.Cost[y]); c != 0 {
			return c
		}
		if c := cmp.Compare(b.p.Supply.Offers[x].Price, b.p.Supply.Offers[y].Price); c != 0 {
			return c
		}
		return cmp.Compare(x, y)
	})
	b.ByCost[template] = list
}
