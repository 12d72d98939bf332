package solver

import (
	"cmp"
	"math/bits"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// binType is a kind of node that packing chooses from: a bin at its cheapest
// offer among those that the same items may use.
type binType struct {
	offer    int32
	capacity vec.Vector
	cost     float64
	// sharedItems and exclusiveItems are the items that may use the bin type and fit it: those of
	// which it takes any number, and those that want to be alone of their kind.
	sharedItems, exclusiveItems []int32
	// sets are those that list the bin type.
	sets vec.Bits
	// items holds both, shared those without.
	items, shared vec.Bits
	// n is how many resources, counted from the first, its items ask for.
	n int
	// resourcePrices are the prices of its room when it was last filled.
	resourcePrices vec.Reals
	// basis is the basis of the last relaxation: one more than the number of a
	// item, 0 for unused room.
	basis [vec.MaxDims]int32
}

// newBinTypes chooses the kinds of nodes worth looking at for the items: one that
// costs no less than another, has no more room and serves no other items is
// left out.
func (k *packer) newBinTypes() {
	sig, groups := k.signatures()
	room := k.used()
	wider := newWider(groups)
	kept := make([][]int32, len(groups)) // bin types by signature
	served := make([]vec.Bits, len(groups))
	seen := newChain(len(k.p.shapes), len(sig))
	k.binTypes = make([]binType, 0, min(len(k.p.shapes), 512))
next:
	for _, o := range k.inOrder(k.offersByCost) {
		if sig[o] == 0 {
			continue
		}
		b := k.p.offers[o].shape
		for x := seen.last[b]; x > 0; x = seen.before[x-1] {
			if sig[x-1] == sig[o] {
				continue next // the bin's cheapest offer of the kind came before
			}
		}
		seen.add(b, o)
		has := k.p.shapes[b].capacity
		if k.podsPerNode > 0 {
			has[2] = min(has[2], int64(k.podsPerNode))
		}
		if k.dominated(&has, wider.of(sig[o]), kept, room) {
			continue
		}
		if served[sig[o]] == nil {
			served[sig[o]] = k.itemsOfSets(groups[sig[o]])
		}
		s := binType{offer: o, capacity: has, cost: k.packingCost[o], sets: groups[sig[o]]}
		k.listItems(&s, served[sig[o]])
		if len(s.sharedItems)+len(s.exclusiveItems) > 0 {
			kept[sig[o]] = append(kept[sig[o]], int32(len(k.binTypes)))
			k.binTypes = append(k.binTypes, s)
		}
	}
}

// chain lists offers by bin, the last one first; numbers are one more than the
// offer's, 0 ends a list.
type chain struct{ last, before []int32 }

func newChain(bins, offers int) chain {
	return chain{last: make([]int32, bins), before: make([]int32, offers)}
}

func (c *chain) add(shape, offer int32) {
	c.before[offer], c.last[shape] = c.last[shape], offer+1
}

// dominated says whether a bin type kept before, of a signature that serves as
// many items, has all the room of another; being before it, it costs no more.
func (k *packer) dominated(has *vec.Vector, signatures []int32, kept [][]int32, room [vec.MaxDims]bool) bool {
	for _, g := range signatures {
		for _, i := range kept[g] {
			if k.within(has, &k.binTypes[i].capacity, room) {
				return true
			}
		}
	}
	return false
}

// signatures says for every offer by which sets it may be used: a number, and
// for every number the sets.
func (k *packer) signatures() (sig []int32, groups []vec.Bits) {
	sig = make([]int32, len(k.p.offers))
	groups = []vec.Bits{vec.NewBits(len(k.sets))}
	for s, set := range k.sets {
		renamed := make([]int32, len(groups))
		for w, x := range set {
			for ; x != 0; x &= x - 1 {
				old := &sig[w*64+bits.TrailingZeros64(x)]
				if renamed[*old] == 0 {
					renamed[*old] = int32(len(groups))
					more := groups[*old].Clone()
					more.Set(int32(s))
					groups = append(groups, more)
				}
				*old = renamed[*old]
			}
		}
	}
	return sig, groups
}

// wider finds, for a signature, those that list all of its sets, itself first.
type wider struct {
	groups []vec.Bits
	memo   [][]int32
}

func newWider(groups []vec.Bits) *wider {
	return &wider{groups: groups, memo: make([][]int32, len(groups))}
}

func (w *wider) of(sig int32) []int32 {
	if w.memo[sig] == nil {
		w.memo[sig] = []int32{sig}
		for g := range w.groups {
			if int32(g) != sig && w.groups[g].Contains(w.groups[sig]) {
				w.memo[sig] = append(w.memo[sig], int32(g))
			}
		}
	}
	return w.memo[sig]
}

// setPackingCosts says what packing takes for the cost of every offer: what the node costs
// besides its instance included, never 0, and less the less money it is where
// effective costs tie; and sorts each node template's offers by it.
func (k *packer) setPackingCosts() {
	k.packingCost = make([]float64, len(k.p.offers))
	for o := range k.packingCost {
		f := &k.p.offers[o]
		cost := k.cost[o] + k.p.fixedCost(f.template).USD() + float64(1e-6*f.price.USD()) + 1e-7
		if k.scarcity != nil {
			cost = k.scarcity[o] + float64(1e-6*cost)
		}
		k.packingCost[o] = cost
	}
	k.offersByCost = make([][]int32, len(k.byCost))
	for l, list := range k.byCost {
		k.offersByCost[l] = list
		if k.scarcity != nil {
			k.offersByCost[l] = slices.SortedStableFunc(slices.Values(list), k.compare)
		}
	}
}

func (k *packer) compare(a, b int32) int {
	if o := cmp.Compare(k.packingCost[a], k.packingCost[b]); o != 0 {
		return o
	}
	return cmp.Compare(a, b)
}

// inOrder merges lists of offers that are in order of price.
func (k *packer) inOrder(lists [][]int32) []int32 {
	switch len(lists) {
	case 0:
		return nil
	case 1:
		return lists[0]
	}
	a, b := k.inOrder(lists[:len(lists)/2]), k.inOrder(lists[len(lists)/2:])
	out := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if k.compare(b[0], a[0]) < 0 {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}

// used says which resources any item asks for.
func (k *packer) used() (out [vec.MaxDims]bool) {
	for i := range k.items {
		for r, v := range k.items[i].request {
			out[r] = out[r] || v > 0
		}
	}
	return out
}

func (k *packer) within(a, b *vec.Vector, in [vec.MaxDims]bool) bool {
	if in[0] && a[0] > b[0] || in[1] && a[1] > b[1] {
		return false
	}
	for r := 2; r < k.n; r++ {
		if in[r] && a[r] > b[r] {
			return false
		}
	}
	return true
}

// itemsOfSets are the items that use one of the given sets.
func (k *packer) itemsOfSets(sets vec.Bits) vec.Bits {
	out := vec.NewBits(len(k.items))
	for i := range k.items {
		if sets.Has(k.items[i].set) {
			out.Set(int32(i))
		}
	}
	return out
}

// requestRuns are runs of items with equal requests; alone are the items that want to
// be alone of their kind, asking lists by resource, from the fourth on, those
// that ask for it.
type requestRuns struct {
	ends      []int32
	exclusive vec.Bits
	asking    [vec.MaxDims]vec.Bits
}

func (k *packer) newRequestRuns() {
	k.runs = requestRuns{ends: make([]int32, 0, len(k.items)), exclusive: vec.NewBits(len(k.items))}
	for i := range k.items {
		r := &k.items[i]
		if i+1 == len(k.items) || k.items[i+1].request != r.request {
			k.runs.ends = append(k.runs.ends, int32(i+1))
		}
		if k.p.conflicts.Exclusive(r.conflict) {
			k.runs.exclusive.Set(int32(i))
		}
		for d := 3; d < k.n; d++ {
			if r.request[d] == 0 {
				continue
			}
			if k.runs.asking[d] == nil {
				k.runs.asking[d] = vec.NewBits(len(k.items))
			}
			k.runs.asking[d].Set(int32(i))
		}
	}
}

// arena cuts small lists from large ones, each twice as large as the last.
type arena struct {
	words   vec.Bits
	numbers []int32
	size    int
}

// grow is how much to allocate now, at least n.
func (s *arena) grow(n int) int {
	s.size = min(max(256, 2*s.size), 8192)
	return max(n, s.size)
}

// bits is an empty set of so many words.
func (s *arena) bits(words int) vec.Bits {
	if len(s.words) < words {
		s.words = make(vec.Bits, s.grow(words))
	}
	out := s.words[:words:words]
	s.words = s.words[words:]
	return out
}

// list is an empty list with room for n numbers.
func (s *arena) list(n int) []int32 {
	if len(s.numbers) < n {
		s.numbers = make([]int32, s.grow(n))
	}
	out := s.numbers[:0:n]
	s.numbers = s.numbers[n:]
	return out
}

// listItems lists the items that fit the bin type; allowed are those that may use it,
// nil for all.
func (k *packer) listItems(s *binType, allowed vec.Bits) {
	words := (len(k.items) + 63) / 64
	s.items, s.shared, s.n = k.arena.bits(words), k.arena.bits(words), 3
	from := int32(0)
	for _, to := range k.runs.ends {
		if vec.Fits(&k.items[from].request, &s.capacity, k.n) {
			s.items.SetRange(from, to)
		}
		from = to
	}
	if allowed != nil {
		s.items.And(allowed)
	}
	for d := k.n - 1; d >= 3; d-- {
		if k.runs.asking[d].Intersects(s.items) {
			s.n = d + 1
			break
		}
	}
	list := k.arena.list(s.items.Count())
	for w := range s.shared {
		s.shared[w] = s.items[w] &^ k.runs.exclusive[w]
	}
	list = s.shared.AppendTo(list)
	s.sharedItems = slices.Clip(list)
	if len(list) == cap(list) {
		return
	}
	for w := range s.items {
		for x := s.items[w] & k.runs.exclusive[w]; x != 0; x &= x - 1 {
			list = append(list, int32(w*64+bits.TrailingZeros64(x)))
		}
	}
	s.exclusiveItems = list[len(s.sharedItems):]
	slices.SortStableFunc(s.exclusiveItems, func(a, b int32) int { return cmp.Compare(k.clique[a], k.clique[b]) })
}
