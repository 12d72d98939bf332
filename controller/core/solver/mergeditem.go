package solver

import (
	"math/bits"

	"spokeshave.dev/controller/core/solver/vec"
)

// Up to maxRequests different requests are packed exactly. When there are more,
// similar requests are joined until at most maxMergedItems items are left.
const (
	maxRequests    = 160
	maxMergedItems = 96
)

// countRequests counts the different requests; items are sorted by them.
func countRequests(items []item) int {
	if len(items) == 0 {
		return 0
	}
	return int(items[len(items)-1].requestID) + 1
}

// mergeItems joins items whose requests agree in their leading binary digits. It
// uses as many digits as the limit on items allows. A joined item requests the
// maximum of its pods, so that any of them fit.
func (z *itemizer) mergeItems(items []item) []item {
	digits := 5
	if len(items) > 10*maxMergedItems {
		digits = 3
	}
	joined := z.mergeByDigits(items, digits)
	for ; digits > 0 && len(joined) > maxMergedItems; digits-- {
		joined = z.mergeByDigits(items, digits-1)
	}
	return joined
}

// useMeans makes joined items request the mean of their pods. That packs well, but a
// few pods are left over when pods are assigned to nodes.
func (p *problem) useMeans(items []item) {
	for i := range items {
		var sum vec.Vector
		for _, part := range items[i].members {
			sum.Add(&p.classes[part.class].req, int64(part.n))
		}
		n := int64(items[i].n)
		for d := range sum {
			items[i].request[d] = (sum[d] + n - 1) / n
		}
	}
}

func (z *itemizer) mergeByDigits(items []item, digits int) []item {
	var out []item
	ids := map[itemKey]int32{}
	for i := range items {
		r := &items[i]
		k := itemKey{set: r.set, conflict: r.conflict}
		for d, v := range r.request {
			k.request[d] = leading(v, digits)
		}
		j, ok := ids[k]
		if ok {
			req := out[j].request
			req.Raise(&r.request)
			// The maximum of all members must still fit somewhere.
			if ok = z.p.someFits(&req, z.sets.All[r.set]); ok {
				out[j].request = req
			}
		}
		if !ok {
			j = int32(len(out))
			ids[k] = j
			out = append(out, item{request: r.request, set: r.set, conflict: r.conflict})
		}
		out[j].n += r.n
		out[j].members = append(out[j].members, r.members...)
	}
	return out
}

// leading keeps the highest digits+1 binary digits of v and clears the others.
func leading(v int64, digits int) int64 {
	if v <= 0 {
		return 0
	}
	drop := max(0, bits.Len64(uint64(v))-1-digits)
	return v >> drop << drop
}
