package solver

import (
	"cmp"
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
	seen := make([][]int32, len(k.p.bins))
	for _, o := range k.inOrder(k.lists) {
		b := k.p.offers[o].bin
		if sig[o] == 0 || slices.Contains(seen[b], sig[o]) {
			continue // the bin's cheapest offer of the kind came before
		}
		seen[b] = append(seen[b], sig[o])
		s := site{offer: o, room: k.p.bins[b].room, cost: k.charge[o]}
		if k.dominated(&s, wider.of(sig[o]), kept, room) {
			continue
		}
		k.serve(&s, groups[sig[o]])
		if len(s.plain)+len(s.ported) > 0 {
			kept[sig[o]] = append(kept[sig[o]], int32(len(k.sites)))
			k.sites = append(k.sites, s)
		}
	}
}

// dominated says whether a site kept before, of a signature that serves as
// many rows, has all the room of s; being before it, it costs no more.
func (k *packer) dominated(s *site, signatures []int32, kept [][]int32, room [maxDims]bool) bool {
	for _, g := range signatures {
		for _, i := range kept[g] {
			if k.within(&s.room, &k.sites[i].room, room) {
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
		for o := set.next(0); o >= 0; o = set.next(o + 1) {
			old := sig[o]
			if renamed[old] == 0 {
				renamed[old] = int32(len(groups))
				more := groups[old].clone()
				more.set(int32(s))
				groups = append(groups, more)
			}
			sig[o] = renamed[old]
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
	for r := range k.n {
		if in[r] && a[r] > b[r] {
			return false
		}
	}
	return true
}

// serve lists the rows of the given sets that fit the site.
func (k *packer) serve(s *site, sets bitset) {
	s.rows, s.free, s.n = newBitset(len(k.rows)), newBitset(len(k.rows)), 3
	for i := range k.rows {
		r := &k.rows[i]
		if !sets.has(r.set) || !fits(&r.req, &s.room, k.n) {
			continue
		}
		s.rows.set(int32(i))
		for n := k.n; n > s.n; n-- {
			if r.req[n-1] > 0 {
				s.n = n
			}
		}
		if !k.p.apart.alone(r.apart) {
			s.plain = append(s.plain, int32(i))
			s.free.set(int32(i))
		} else {
			s.ported = append(s.ported, int32(i))
		}
	}
	slices.SortStableFunc(s.ported, func(a, b int32) int { return cmp.Compare(k.clique[a], k.clique[b]) })
}
