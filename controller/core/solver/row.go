package solver

import (
	"cmp"
	"math/bits"
	"slices"
)

// Up to maxShapes different requests are packed exactly. When there are more,
// those that differ little are joined until there are joinedRows at most.
const (
	maxShapes  = 160
	joinedRows = 96
)

// shapes counts the different requests; rows are sorted by them.
func shapes(rows []row) int {
	if len(rows) == 0 {
		return 0
	}
	return int(rows[len(rows)-1].shape) + 1
}

// row is a number of pods that are interchangeable for packing: equal
// requests, equal choice of offers, equal in what they keep off their node.
type row struct {
	req   vec
	shape int32 // numbers different requests
	set   int32 // index into packer.sets
	apart int32
	n     int32
	parts []take
}

type rowKey struct {
	req        vec
	set, apart int32
}

// rowsFor makes rows of what is left of the classes that may be packed now.
// Classes for which nothing can be launched are left out.
func (a *attempt) rowsFor(k *packer, allowed bitset) {
	rows := make([]row, 0, min(len(a.p.classes), 256))
	var table setTable
	ids := make(map[rowKey]int32, cap(rows))
	memo := map[[2]int32]int32{}
	a.hits = a.hits[:0]
	for c := range a.p.classes {
		cl := &a.p.classes[c]
		if a.left[c] == 0 || cl.priority < a.floor || len(cl.reasons) > 0 {
			continue
		}
		set := a.choose(&table, memo, cl, allowed)
		if set < 0 {
			continue
		}
		key := rowKey{cl.req, set, cl.apart}
		i, ok := ids[key]
		if !ok {
			i = int32(len(rows))
			ids[key] = i
			rows = append(rows, row{req: cl.req, set: set, apart: cl.apart})
		}
		rows[i].n += a.left[c]
		rows[i].parts = append(rows[i].parts, take{int32(c), a.left[c]})
	}
	a.sortRows(rows, table.sets)
	a.pickyFirst(rows)
	if k.joined = shapes(rows) > maxShapes; k.joined {
		if rows = a.coarsen(rows, table.sets); k.mean {
			a.average(rows)
		}
		a.sortRows(rows, table.sets)
	}
	k.rows, k.sets = rows, table.sets
}

// pickyFirst puts the pods that mind their company before those that do not,
// so that they are dealt while there is choice.
func (a *attempt) pickyFirst(rows []row) {
	if len(a.p.topo.censuses) == 0 {
		return
	}
	rank := func(t take) int {
		switch ties := a.p.classes[t.class].ties; {
		case ties == nil:
			return 2
		case len(ties.local) > 0:
			return 0
		}
		return 1
	}
	for i := range rows {
		slices.SortStableFunc(rows[i].parts, func(x, y take) int { return cmp.Compare(rank(x), rank(y)) })
	}
}

// choose is the set of offers from which the class is served now: those of
// the heaviest pools where one fits. -1 when nothing does.
func (a *attempt) choose(table *setTable, memo map[[2]int32]int32, cl *class, allowed bitset) int32 {
	for level := range a.p.levels {
		k := [2]int32{cl.offers, level}
		id, ok := memo[k]
		if !ok {
			set := a.p.choices.sets[cl.offers].clone()
			set.and(allowed)
			for l := range a.p.lanes {
				if a.p.lanes[l].level != level {
					set.unsetRange(a.p.lanes[l].from, a.p.lanes[l].to)
				}
			}
			if a.p.varied(set); set.empty() {
				id = -1
			} else {
				id = table.id(set)
			}
			memo[k] = id
		}
		if id >= 0 && a.hit(&cl.req, id, table.sets[id]) {
			return id
		}
	}
	return -1
}

// hit is someFits for a numbered set. What held the last pod of the set mostly
// holds the next one.
func (a *attempt) hit(req *vec, id int32, set bitset) bool {
	for int(id) >= len(a.hits) {
		a.hits = append(a.hits, 0)
	}
	if o := a.hits[id] - 1; o >= 0 && fits(req, &a.p.bins[a.p.offers[o].bin].room, a.p.dims.n()) {
		return true
	}
	o := a.p.someFit(req, set)
	a.hits[id] = o + 1
	return o >= 0
}

// someFits says whether any offer of the set holds one pod.
func (p *problem) someFits(req *vec, set bitset) bool { return p.someFit(req, set) >= 0 }

// someFit is the first offer of the set that holds one pod, -1 when none does.
func (p *problem) someFit(req *vec, set bitset) int32 {
	last := int32(-1)
	for w, x := range set {
		for ; x != 0; x &= x - 1 {
			o := int32(w*64 + bits.TrailingZeros64(x))
			bin := p.offers[o].bin
			if bin != last && fits(req, &p.bins[bin].room, p.dims.n()) {
				return o
			}
			last = bin
		}
	}
	return -1
}

// sortRows orders rows by contents, larger first, so that nothing depends on
// how they were found, and numbers their shapes.
func (a *attempt) sortRows(rows []row, sets []bitset) {
	slices.SortStableFunc(rows, func(x, y row) int {
		if o := y.req.compare(&x.req); o != 0 {
			return o
		}
		if x.set != y.set {
			if o := slices.Compare(sets[x.set], sets[y.set]); o != 0 {
				return o
			}
		}
		if x.apart != y.apart {
			return cmp.Compare(a.p.apart.text(x.apart), a.p.apart.text(y.apart))
		}
		return 0
	})
	for i := range rows {
		if rows[i].shape = 0; i > 0 {
			if rows[i].shape = rows[i-1].shape; rows[i].req != rows[i-1].req {
				rows[i].shape++
			}
		}
	}
}

func (p *problem) portOrder(id int32) string {
	if id < 0 {
		return ""
	}
	return p.ports.keys[id]
}

// coarsen joins rows whose requests agree in their leading binary digits, as
// few digits as it takes. A joined row asks for the most of its pods, which
// holds whatever pods come.
func (a *attempt) coarsen(rows []row, sets []bitset) []row {
	digits := 5
	if len(rows) > 10*joinedRows {
		digits = 3
	}
	joined := a.join(rows, sets, digits)
	for ; digits > 0 && len(joined) > joinedRows; digits-- {
		joined = a.join(rows, sets, digits-1)
	}
	return joined
}

// average makes joined rows ask for the mean of their pods. That packs well,
// but leaves a few pods over when nodes are dealt.
func (a *attempt) average(rows []row) {
	for i := range rows {
		var sum vec
		for _, part := range rows[i].parts {
			sum.add(&a.p.classes[part.class].req, int64(part.n))
		}
		n := int64(rows[i].n)
		for d := range sum {
			rows[i].req[d] = (sum[d] + n - 1) / n
		}
	}
}

func (a *attempt) join(rows []row, sets []bitset, digits int) []row {
	var out []row
	ids := map[rowKey]int32{}
	for i := range rows {
		r := &rows[i]
		k := rowKey{set: r.set, apart: r.apart}
		for d, v := range r.req {
			k.req[d] = leading(v, digits)
		}
		j, ok := ids[k]
		if ok {
			req := out[j].req
			req.max(&r.req)
			// The most of all members must still fit somewhere.
			if ok = a.p.someFits(&req, sets[r.set]); ok {
				out[j].req = req
			}
		}
		if !ok {
			j = int32(len(out))
			ids[k] = j
			out = append(out, row{req: r.req, set: r.set, apart: r.apart})
		}
		out[j].n += r.n
		out[j].parts = append(out[j].parts, r.parts...)
	}
	return out
}

// leading keeps the highest digits+1 binary digits of v.
func leading(v int64, digits int) int64 {
	if v <= 0 {
		return 0
	}
	drop := max(0, bits.Len64(uint64(v))-1-digits)
	return v >> drop << drop
}
