package solver

import (
	"cmp"
	"math/bits"
	"slices"
)

// site is a kind of node that packing chooses from: a bin at its cheapest
// offer among those that the same rows may use.
type site struct {
	offer int32
	room  vec
	cost  float64
	// plain and ported are the rows that may use the site and fit it: those of
	// which it takes any number, and those that want to be alone of their kind.
	plain, ported []int32
	// sets are those that list the site.
	sets bitset
	// rows holds both, free those without.
	rows, free bitset
	// n is how many resources, counted from the first, its rows ask for.
	n int
	// hint are the prices of its room when it was last filled.
	hint [maxDims]float64
	// basis is the basis of the last relaxation: one more than the number of a
	// row, 0 for unused room.
	basis [maxDims]int32
}

// newSites chooses the kinds of nodes worth looking at for the rows: one that
// costs no less than another, has no more room and serves no other rows is
// left out.
func (k *packer) newSites() {
	sig, groups := k.signatures()
	room := k.used()
	wider := newWider(groups)
	kept := make([][]int32, len(groups)) // sites by signature
	served := make([]bitset, len(groups))
	seen := newChain(len(k.p.bins), len(sig))
	k.sites = make([]site, 0, min(len(k.p.bins), 512))
next:
	for _, o := range k.inOrder(k.lists) {
		if sig[o] == 0 {
			continue
		}
		b := k.p.offers[o].bin
		for x := seen.last[b]; x > 0; x = seen.before[x-1] {
			if sig[x-1] == sig[o] {
				continue next // the bin's cheapest offer of the kind came before
			}
		}
		seen.add(b, o)
		has := k.p.bins[b].room
		if k.most > 0 {
			has[2] = min(has[2], int64(k.most))
		}
		if k.dominated(&has, wider.of(sig[o]), kept, room) {
			continue
		}
		if served[sig[o]] == nil {
			served[sig[o]] = k.rowsOfSets(groups[sig[o]])
		}
		s := site{offer: o, room: has, cost: k.charge[o], sets: groups[sig[o]]}
		k.serve(&s, served[sig[o]])
		if len(s.plain)+len(s.ported) > 0 {
			kept[sig[o]] = append(kept[sig[o]], int32(len(k.sites)))
			k.sites = append(k.sites, s)
		}
	}
}

// chain lists offers by bin, the last one first; numbers are one more than the
// offer's, 0 ends a list.
type chain struct{ last, before []int32 }

func newChain(bins, offers int) chain {
	return chain{last: make([]int32, bins), before: make([]int32, offers)}
}

func (c *chain) add(bin, offer int32) {
	c.before[offer], c.last[bin] = c.last[bin], offer+1
}

// dominated says whether a site kept before, of a signature that serves as
// many rows, has all the room of another; being before it, it costs no more.
func (k *packer) dominated(has *vec, signatures []int32, kept [][]int32, room [maxDims]bool) bool {
	for _, g := range signatures {
		for _, i := range kept[g] {
			if k.within(has, &k.sites[i].room, room) {
				return true
			}
		}
	}
	return false
}

// signatures says for every offer by which sets it may be used: a number, and
// for every number the sets.
func (k *packer) signatures() (sig []int32, groups []bitset) {
	sig = make([]int32, len(k.p.offers))
	groups = []bitset{newBitset(len(k.sets))}
	for s, set := range k.sets {
		renamed := make([]int32, len(groups))
		for w, x := range set {
			for ; x != 0; x &= x - 1 {
				old := &sig[w*64+bits.TrailingZeros64(x)]
				if renamed[*old] == 0 {
					renamed[*old] = int32(len(groups))
					more := groups[*old].clone()
					more.set(int32(s))
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
	groups []bitset
	memo   [][]int32
}

func newWider(groups []bitset) *wider {
	return &wider{groups: groups, memo: make([][]int32, len(groups))}
}

func (w *wider) of(sig int32) []int32 {
	if w.memo[sig] == nil {
		w.memo[sig] = []int32{sig}
		for g := range w.groups {
			if int32(g) != sig && w.groups[g].contains(w.groups[sig]) {
				w.memo[sig] = append(w.memo[sig], int32(g))
			}
		}
	}
	return w.memo[sig]
}

// weigh says what packing takes for the cost of every offer: what the node costs
// besides its instance included, never 0, and less the less money it is where
// effective costs tie; and sorts each lane's offers by it.
func (k *packer) weigh() {
	k.charge = make([]float64, len(k.p.offers))
	for o := range k.charge {
		f := &k.p.offers[o]
		cost := k.cost[o] + k.p.fixed(f.lane).USD() + float64(1e-6*f.price.USD()) + 1e-7
		if k.scarce != nil {
			cost = k.scarce[o] + float64(1e-6*cost)
		}
		k.charge[o] = cost
	}
	k.lists = make([][]int32, len(k.byCost))
	for l, list := range k.byCost {
		k.lists[l] = list
		if k.scarce != nil {
			k.lists[l] = slices.SortedStableFunc(slices.Values(list), k.compare)
		}
	}
}

func (k *packer) compare(a, b int32) int {
	if o := cmp.Compare(k.charge[a], k.charge[b]); o != 0 {
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

// used says which resources any row asks for.
func (k *packer) used() (out [maxDims]bool) {
	for i := range k.rows {
		for r, v := range k.rows[i].req {
			out[r] = out[r] || v > 0
		}
	}
	return out
}

func (k *packer) within(a, b *vec, in [maxDims]bool) bool {
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

// rowsOfSets are the rows that use one of the given sets.
func (k *packer) rowsOfSets(sets bitset) bitset {
	out := newBitset(len(k.rows))
	for i := range k.rows {
		if sets.has(k.rows[i].set) {
			out.set(int32(i))
		}
	}
	return out
}

// spans are runs of rows with equal requests; alone are the rows that want to
// be alone of their kind, asking lists by resource, from the fourth on, those
// that ask for it.
type spans struct {
	ends   []int32
	alone  bitset
	asking [maxDims]bitset
}

func (k *packer) newSpans() {
	k.spans = spans{ends: make([]int32, 0, len(k.rows)), alone: newBitset(len(k.rows))}
	for i := range k.rows {
		r := &k.rows[i]
		if i+1 == len(k.rows) || k.rows[i+1].req != r.req {
			k.spans.ends = append(k.spans.ends, int32(i+1))
		}
		if k.p.apart.alone(r.apart) {
			k.spans.alone.set(int32(i))
		}
		for d := 3; d < k.n; d++ {
			if r.req[d] == 0 {
				continue
			}
			if k.spans.asking[d] == nil {
				k.spans.asking[d] = newBitset(len(k.rows))
			}
			k.spans.asking[d].set(int32(i))
		}
	}
}

// slab cuts small lists from large ones, each twice as large as the last.
type slab struct {
	words   bitset
	numbers []int32
	size    int
}

// grow is how much to allocate now, at least n.
func (s *slab) grow(n int) int {
	s.size = min(max(256, 2*s.size), 8192)
	return max(n, s.size)
}

// bits is an empty set of so many words.
func (s *slab) bits(words int) bitset {
	if len(s.words) < words {
		s.words = make(bitset, s.grow(words))
	}
	out := s.words[:words:words]
	s.words = s.words[words:]
	return out
}

// list is an empty list with room for n numbers.
func (s *slab) list(n int) []int32 {
	if len(s.numbers) < n {
		s.numbers = make([]int32, s.grow(n))
	}
	out := s.numbers[:0:n]
	s.numbers = s.numbers[n:]
	return out
}

// serve lists the rows that fit the site; allowed are those that may use it,
// nil for all.
func (k *packer) serve(s *site, allowed bitset) {
	words := (len(k.rows) + 63) / 64
	s.rows, s.free, s.n = k.slab.bits(words), k.slab.bits(words), 3
	from := int32(0)
	for _, to := range k.spans.ends {
		if fits(&k.rows[from].req, &s.room, k.n) {
			s.rows.setRange(from, to)
		}
		from = to
	}
	if allowed != nil {
		s.rows.and(allowed)
	}
	for d := k.n - 1; d >= 3; d-- {
		if k.spans.asking[d].meets(s.rows) {
			s.n = d + 1
			break
		}
	}
	list := k.slab.list(s.rows.count())
	for w := range s.free {
		s.free[w] = s.rows[w] &^ k.spans.alone[w]
	}
	list = s.free.list(list)
	s.plain = slices.Clip(list)
	if len(list) == cap(list) {
		return
	}
	for w := range s.rows {
		for x := s.rows[w] & k.spans.alone[w]; x != 0; x &= x - 1 {
			list = append(list, int32(w*64+bits.TrailingZeros64(x)))
		}
	}
	s.ported = list[len(s.plain):]
	slices.SortStableFunc(s.ported, func(a, b int32) int { return cmp.Compare(k.clique[a], k.clique[b]) })
}
