package disrupt

import (
	"cmp"
	"fmt"
	"slices"
)

// maxTogether is the largest number of nodes that one command replaces.
const maxTogether = 128

// findReplacements finds nodes whose pods cost less on other nodes, new ones
// included.
func (x *search) findReplacements(open []Option, tries int) []*prospect {
	if tries == 0 {
		return nil
	}
	removable := x.allowed(open)
	return x.consolidate(x.setsToReplace(x.promising(open), removable, tries))
}

// setsToReplace returns the sets of nodes to find replacements for, each once: the nodes that cost
// least to disrupt, as many as the budgets allow, then half of them and so on down to two; the most
// promising ones in the same way, then singly; then sets drawn at random; and then others in turn. Sets
// are drawn of all nodes that the budgets allow: one full of processors and one full of memory may have
// a common replacement although neither saves anything alone.
func (x *search) setsToReplace(promising, removable []Option, tries int) [][]int32 {
	sets := x.lowestCostPrefixes(promising, 0)
	add := func(nodes []int32) {
		if tries > 0 && len(nodes) > 0 {
			tries--
			sets = append(sets, nodes)
		}
	}
	all := x.prefix(promising, maxTogether)
	for size := len(all); size > 1; size = fewer(size) {
		add(all[:size])
	}
	promising = x.allowed(promising)
	first := min(len(promising), tries/2)
	for _, o := range promising[:first] {
		add([]int32{o.Node})
	}
	for _, nodes := range x.randomSets(removable) {
		tries++
		add(nodes)
	}
	rest := promising[first:]
	for i := range min(len(rest), tries) {
		at := (int(x.projection.snap.Seed%uint64(len(rest))) + i) % len(rest)
		add([]int32{rest[at].Node})
	}
	return distinct(sets)
}

// distinct returns each set of nodes where it comes first, whatever the order of its nodes. Of few
// nodes, or where budgets allow few, the same sets are drawn again and again.
func distinct(sets [][]int32) [][]int32 {
	known := make(map[string]bool, len(sets))
	return slices.DeleteFunc(sets, func(nodes []int32) bool {
		key := fmt.Sprint(slices.Sorted(slices.Values(nodes)))
		again := known[key]
		known[key] = true
		return again
	})
}

// consolidate proposes to consolidate each of the sets of nodes, and returns the proposals that save
// enough.
func (x *search) consolidate(sets [][]int32) []*prospect {
	var found []*prospect
	for _, nodes := range sets {
		switch p := x.projection.Consolidate(nodes); {
		case p == nil:
		case x.projection.balanced(nodes, p.Saves()):
			found = append(found, x.prospect(p))
		default:
			x.projection.record(nodes, SavingTooSmall, unworthy(p.Saves()))
		}
	}
	return found
}

// allowed returns the options whose pools' budgets allow a removal.
func (x *search) allowed(open []Option) []Option {
	return slices.DeleteFunc(slices.Clone(open), func(o Option) bool { return x.left[x.projection.snap.Nodes[o.Node].Pool] <= 0 })
}

// fewer returns how many nodes are tried together after size of them: half, and two after
// three.
func fewer(size int) int {
	if size == 3 {
		return 2
	}
	return size / 2
}

// lowestCostPrefixes returns the nodes with the lowest disruption cost: as many as the budgets
// allow, then half of them and so on, while their price exceeds saved, what is saved without a
// replacement. Removing nodes without a replacement fills the capacity that remains free and may rule
// out a larger saving; removing more nodes at once and launching a few can be better.
func (x *search) lowestCostPrefixes(open []Option, saved float64) [][]int32 {
	open = slices.Clone(open)
	slices.SortStableFunc(open, func(a, b Option) int { return cmp.Compare(a.Cost, b.Cost) })
	var out [][]int32
	all := x.prefix(open, maxTogether)
	for size := len(all); size > 1; size /= 2 {
		price := 0.0
		for _, i := range all[:size] {
			price += x.projection.prices[i].effective
		}
		if price <= saved {
			break
		}
		out = append(out, all[:size])
	}
	return out
}

// prefix returns the first nodes, at most size, that the pools' budgets allow to be
// removed together.
func (x *search) prefix(open []Option, size int) []int32 {
	budget := slices.Clone(x.left)
	var out []int32
	for _, o := range open {
		pool := x.projection.snap.Nodes[o.Node].Pool
		if len(out) == size {
			break
		}
		if budget[pool] > 0 {
			budget[pool]--
			out = append(out, o.Node)
		}
	}
	return out
}

// choose returns the prospect with the largest gain among those with at least half
// of the best score. Of two with equal gains it returns the one with the higher
// score.
func choose(found []*prospect) *prospect {
	var most *prospect
	score := 0.0
	for _, f := range found {
		score = max(score, f.score)
	}
	for _, f := range found {
		switch {
		case f.score < score/2:
		case most == nil, f.gain > most.gain*(1+roundingShare), f.gain >= most.gain*(1-roundingShare) && f.score > most.score:
			most = f
		}
	}
	return most
}
