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
	// plain and ported are the rows that may use the site and fit it, without
	// and with host ports.
	plain, ported []int32
	// rows holds both.
	rows bitset
	// n is how many resources, counted from the first, its rows ask for.
	n int
	// hint are the prices of its room when it was last filled.
	hint [maxDims]float64
}

// newSites chooses the kinds of nodes worth looking at for the rows: one that
// costs no less than another, has no more room and serves no other rows is
// left out.
func (k *packer) newSites() {
	sig, groups := k.signatures()
	candidates := k.candidates(func(o int32) int32 { return sig[o] })
	room := k.used()
	wider := map[[2]int32]bool{}
	var kept []site
	var keptSig []int32
next:
	for _, o := range candidates {
		s := site{offer: o, room: k.p.bins[k.p.offers[o].bin].room, cost: k.costOf(o)}
		for i := range kept {
			if k.within(&s.room, &kept[i].room, room) && (keptSig[i] == sig[o] || covers(wider, groups, keptSig[i], sig[o])) {
				continue next
			}
		}
		k.serve(&s, groups[sig[o]])
		if len(s.plain)+len(s.ported) > 0 {
			kept = append(kept, s)
			keptSig = append(keptSig, sig[o])
		}
	}
	k.sites = kept
}

// signatures says for every offer by which sets it may be used: a number, and
// for every number the list of sets.
func (k *packer) signatures() (sig []int32, groups [][]int32) {
	sig = make([]int32, len(k.p.offers))
	groups = [][]int32{nil}
	for s, set := range k.sets {
		renamed := make([]int32, len(groups))
		for o := set.next(0); o >= 0; o = set.next(o + 1) {
			old := sig[o]
			if renamed[old] == 0 {
				renamed[old] = int32(len(groups))
				groups = append(groups, append(slices.Clone(groups[old]), int32(s)))
			}
			sig[o] = renamed[old]
		}
	}
	return sig, groups
}

// candidates are the cheapest offers of each bin and kind, cheapest first;
// kind 0 is left out.
func (k *packer) candidates(kind func(o int32) int32) []int32 {
	var out []int32
	seen := make([][]int32, len(k.p.bins))
	for l := range k.p.lanes {
		for _, o := range k.byCost[l] {
			sort, b := kind(o), k.p.offers[o].bin
			if sort == 0 || slices.Contains(seen[b], sort) {
				continue
			}
			seen[b] = append(seen[b], sort)
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		if o := cmp.Compare(k.costOf(a), k.costOf(b)); o != 0 {
			return o
		}
		return cmp.Compare(a, b)
	})
	return out
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

// covers says whether group a lists every set of group b.
func covers(memo map[[2]int32]bool, groups [][]int32, a, b int32) bool {
	key := [2]int32{a, b}
	yes, ok := memo[key]
	if !ok {
		yes = true
		for _, s := range groups[b] {
			if _, found := slices.BinarySearch(groups[a], s); !found {
				yes = false
				break
			}
		}
		memo[key] = yes
	}
	return yes
}

func (k *packer) serve(s *site, sets []int32) {
	s.rows, s.n = newBitset(len(k.rows)), 3
	for i := range k.rows {
		r := &k.rows[i]
		if _, ok := slices.BinarySearch(sets, r.set); !ok || !fits(&r.req, &s.room, k.n) {
			continue
		}
		s.rows.set(int32(i))
		for n := k.n; n > s.n; n-- {
			if r.req[n-1] > 0 {
				s.n = n
			}
		}
		if r.ports < 0 {
			s.plain = append(s.plain, int32(i))
		} else {
			s.ported = append(s.ported, int32(i))
		}
	}
}
