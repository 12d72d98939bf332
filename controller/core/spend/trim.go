package spend

import (
	"cmp"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Other is the name of merged entries.
const Other = "other"

// mergedPerEntry is how many merged entries Trim keeps for each one that it keeps by
// name. With 2,000 entries, 10,000 namespaces have a sum of their own.
const mergedPerEntry = 5

// Trim returns the ledger with few entries in Pools and in Holders: the given number
// kept by name and at most mergedPerEntry times as many merged ones, plus the remainder. The entries with
// the lowest cost at the month's end are merged first: workloads by namespace,
// families by NodePool. If too many remain, namespaces and NodePools are merged too
// and count only for the cluster. The rows of days are merged likewise, into no more than
// the ledger keeps. The totals do not change.
func (l *Ledger) Trim(entries int) Ledger {
	out := l.trimSums(entries)
	entries = min(entries, maxApart)
	out.Days.Ended = trimPeriods(out.Days.Ended, entries)
	out.Days.Today.Rows = trimRows(out.Days.Today.Rows, entries, out.Days.Today.From.AddDate(0, 0, 1).Sub(l.Through))
	return out
}

// Entries returns the number of entries of the largest list that Trim makes smaller.
func (l *Ledger) Entries() int {
	return max(len(l.Pools), len(l.Holders), min(maxApart, len(l.Days.Today.Rows)), min(maxApart, mostRows(l.Days.Ended)))
}

// trimSums trims Pools and Holders.
func (l *Ledger) trimSums(entries int) Ledger {
	out, rest := *l, l.Month.AddDate(0, 1, 0).Sub(l.Through)
	if len(l.Holders) > entries {
		var lines []costLine[Holder]
		for _, h := range l.Holders {
			lines = append(lines, newCostLine(h.Holder, h.Amount, h.Rate, rest))
		}
		held := map[Holder]*HeldSpend{}
		for _, h := range mergeSmallest(lines, entries, bySpace, bySpaces) {
			held[h.key] = &HeldSpend{Holder: h.key, Amount: h.amount, Rate: h.rate}
		}
		out.Holders = holders(held)
	}
	if len(l.Pools) > entries {
		var lines []costLine[Rented]
		for _, p := range l.Pools {
			lines = append(lines, newCostLine(p.Rented, p.Amount, p.Rate, rest))
		}
		rented := map[Rented]*PoolSpend{}
		for _, p := range mergeSmallest(lines, entries, byPool, byPools) {
			rented[p.key] = &PoolSpend{Rented: p.key, Amount: p.amount, Rate: p.rate}
		}
		out.Pools = pools(rented)
	}
	return out
}

func bySpace(h Holder) Holder {
	if h.Kind == Workload {
		h.Workload = Other
	}
	return h
}

func bySpaces(h Holder) Holder {
	if h.Kind == Workload {
		h.Namespace, h.Workload = "", Other
	}
	return h
}

func byPool(r Rented) Rented {
	r.Family = Other
	return r
}

func byPools(r Rented) Rented { return Rented{Family: Other, CapacityType: r.CapacityType} }

// costLine is one entry of Pools or Holders.
type costLine[K comparable] struct {
	key    K
	amount Amount
	rate   model.Price
	// due is the amount at the end of the month at the current rate. Entries are
	// sorted by it, so that an entry that began just now is not always the lowest.
	due Amount
}

func newCostLine[K comparable](key K, amount Amount, rate model.Price, rest time.Duration) costLine[K] {
	out := costLine[K]{key: key, amount: amount, rate: rate, due: amount}
	out.due.Accrue(rate, rest)
	return out
}

// mergeSmallest keeps the most expensive entries, merges the others by the key that
// by returns, keeps the most expensive of these, and merges what is left by rest.
func mergeSmallest[K comparable](in []costLine[K], entries int, by, rest func(K) K) []costLine[K] {
	dearest(in)
	out := merge(in[min(entries, len(in)):], by)
	dearest(out)
	merged := min(mergedPerEntry*entries, len(out))
	rested := merge(out[merged:], rest)
	all := slices.Concat(in[:min(entries, len(in))], out[:merged], rested)
	return merge(all, func(key K) K { return key })
}

// dearest sorts the entries by due and rate, highest first. The sort is stable.
func dearest[K comparable](in []costLine[K]) {
	slices.SortStableFunc(in, func(a, b costLine[K]) int {
		return cmp.Or(cmp.Compare(b.due.Micro, a.due.Micro), cmp.Compare(b.rate, a.rate))
	})
}

// merge adds up the entries whose keys as maps to the same key, in order of first
// appearance.
func merge[K comparable](in []costLine[K], as func(K) K) []costLine[K] {
	at := map[K]int{}
	var out []costLine[K]
	for _, l := range in {
		key := as(l.key)
		i, known := at[key]
		if !known {
			i, at[key] = len(out), len(out)
			out = append(out, costLine[K]{key: key})
		}
		out[i].amount.Plus(l.amount)
		out[i].due.Plus(l.due)
		out[i].rate += l.rate
	}
	return out
}
