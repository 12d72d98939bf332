package packing

import (
	"math"
	"slices"

	"spokeshave.dev/controller/core/solver/lp"
	"spokeshave.dev/controller/core/solver/vec"
)

const (
	// maxWholeBound is up to how many items (by number, not by kind) a bound counts that
	// bins hold whole items. With more, fractions of an item hardly matter: of six mixes of
	// 1,000 pods, the bound of one rises by more than 0.01 %.
	maxWholeBound = 1500
	// maxWholeBoundKinds is up to how many kinds of items it counts them: pivots of the program
	// grow with the square.
	maxWholeBoundKinds = 400
	// wholeRounds is how often the program of a bound is solved again with the fillings
	// that were found by branching. wholeWork nearly always ends the search before that.
	wholeRounds = 100
	// wholeNodes is how many relaxations are solved to find out what a bin holds at most. With
	// 50 the cheapest packing of TestWholeBound is 1.076 of the bound, with 200 and 1,000 it is
	// 1.074.
	wholeNodes = 200
	// wholeWork bounds the relaxations of all rounds: 0.1 s for most mixes. With 5,000 the
	// bound of 1,000 mixed pods is 0.9 % lower, with 80,000 0.4 % higher for 0.3 s more; others
	// differ by less than 0.1 %.
	wholeWork = 20_000
	// wholeParts is how many bins share a filling with fractions of items, so that it is a
	// column of whole numbers: amounts are rounded down by a 64th of an item at most.
	wholeParts = 64
	// wholeStep is the weight of the program's duals beside the best ones so far. It is
	// doubled while they bring nothing new. With 0.1 two of eight bounds are up to 0.1 % higher.
	wholeStep = 0.25
	// wholeGain is by which part a bound has to be higher to count: less is lost in rounding.
	wholeGain = 1e-5
)

// WholeBoundingDuals are BoundingDuals that count what BoundingDuals does not: a bin holds
// no fractions of items. The program is solved over fillings with whole items, and what a
// bin could hold at most is found by branch and bound; where that takes too many steps,
// the bound at hand counts. The search begins at duals that BoundingDuals returned and is
// smoothed towards the best ones so far (Wentges 1997). It returns nil for more than
// maxWholeBound items, or maxWholeBoundKinds kinds of them.
//
// The instance has no conflicts: a group of which a bin takes one item is a resource.
func WholeBoundingDuals(in *Instance, offered []int32, start []float64) []float64 {
	if count(in.Items) > maxWholeBound {
		return nil
	}
	_, m, from := prepare(in)
	if len(m.items) == 0 || len(m.items) > maxWholeBoundKinds {
		return nil
	}
	at := func(i int) int32 {
		if from == nil {
			return int32(i)
		}
		return from[i]
	}
	p := newPricer(m, &Stats{})
	g := newMaster(p)
	g.run(boundMoves, boundTolerance)
	best := make([]float64, len(m.items))
	for i := range m.items {
		p.left.set(int32(i), offered[at(i)])
		best[i] = start[at(i)]
	}
	g.improveWhole(best)
	out := make([]float64, len(in.Items))
	for i := range best {
		out[at(i)] = best[i]
	}
	return out
}

// improveWhole changes duals to better ones.
func (g *restrictedMaster) improveWhole(best []float64) {
	most, step := 0.0, wholeStep
	for i, w := range best {
		most += float64(w * float64(g.p.m.items[i].Count))
	}
	for round, work := 0, 0; round < wholeRounds && work < wholeWork; round++ {
		now := make([]float64, len(best))
		for i, w := range g.program.Dual {
			now[i] = float64((1-step)*best[i]) + float64(step*max(w, leastWorth))
		}
		g.p.setDual(now)
		duals, found, nodes := g.wholeRound()
		work += nodes
		sum := 0.0
		for i, w := range duals {
			sum += float64(w * float64(g.p.m.items[i].Count))
		}
		switch {
		case sum > most*(1+wholeGain):
			copy(best, duals)
			most, step = sum, wholeStep
		case len(found) > 0:
			step = max(wholeStep, step/2)
		case step == 1:
			return
		default:
			step = min(1, 2*step)
		}
		if len(found) > 0 {
			g.program.Reoptimize(found, boundTolerance, boundMoves)
		}
	}
}

// wholeRound returns the duals at hand, reduced so that no bin can hold whole items worth
// more than it costs, the columns that make the program cheaper among the fillings found,
// and how many relaxations it took. Where branching did not end, the filling with
// fractions of items that is left stands for the bin, too.
func (g *restrictedMaster) wholeRound() (duals []float64, found []int32, nodes int) {
	p := g.p
	over := make([]float64, len(p.m.items))
	for k := range p.m.bins {
		b := &p.m.bins[k]
		w := newWholeFilling(p, int32(k))
		ceiling := w.search()
		nodes += len(w.nodes) + 1
		for i := b.items.Next(0); i >= 0; i = b.items.Next(i + 1) {
			over[i] = max(over[i], ceiling/b.cost)
		}
		for _, column := range w.columns() {
			if g.program.Worth(&column) > (1+boundTolerance)*column.Cost {
				found = append(found, g.program.Add(column))
			}
		}
	}
	duals = slices.Clone(p.dual)
	for i := range duals {
		duals[i] /= max(1, over[i])
		if math.IsInf(duals[i], 0) || math.IsNaN(duals[i]) {
			duals[i] = 0
		}
	}
	return duals, found, nodes
}

// wholeFilling looks for the filling of one bin with whole items that is worth most: best
// first, the relaxation of a node being its bound.
type wholeFilling struct {
	p   *pricer
	at  int32
	bin *bin
	// items are those that the bin takes. upper is room for the bounds of a node.
	items []int32
	upper []float64
	basis memory
	// nodes are all nodes so far, open those that are not divided yet.
	nodes []wholeNode
	open  []int32
	// best is the best filling found, worth value.
	best  *Pattern
	value float64
}

// wholeNode bounds the number of one item more than its parent does.
type wholeNode struct {
	parent, item int32
	least, most  int32
	// bound is the most that a filling of the node is worth; split is the item to divide
	// it by, and amount how much of it the relaxation takes.
	bound  float64
	split  int32
	amount float64
}

func newWholeFilling(p *pricer, at int32) *wholeFilling {
	b := &p.m.bins[at]
	return &wholeFilling{p: p, at: at, bin: b, items: slices.Concat(b.plain, b.exclusive), upper: make([]float64, len(p.m.items))}
}

// search returns the most that a filling of the bin with whole items can be worth, or the
// bin's cost where that is more.
func (w *wholeFilling) search() float64 {
	cost := w.bin.cost
	if root := w.p.relax(w.bin, &w.basis, w.items); root.Value <= cost {
		return cost
	}
	if w.best, w.value = w.p.fill(w.at, 0); w.best == nil {
		w.value = 0
	}
	w.add(wholeNode{parent: -1, item: -1})
	for len(w.nodes) < wholeNodes {
		o := w.top()
		if o < 0 || w.nodes[w.open[o]].bound <= max(w.value, cost)*(1+1e-9) {
			break
		}
		n := w.open[o]
		w.open = slices.Delete(w.open, o, o+1)
		x := w.nodes[n]
		least, most := w.bounds(n, x.split)
		down := int32(math.Floor(x.amount))
		w.add(wholeNode{parent: n, item: x.split, least: least, most: min(most, down)})
		w.add(wholeNode{parent: n, item: x.split, least: max(least, down+1), most: most})
	}
	ceiling := max(w.value, cost)
	if o := w.top(); o >= 0 {
		ceiling = max(ceiling, w.nodes[w.open[o]].bound)
	}
	return ceiling
}

// top returns the position, among the open nodes, of the one with the highest bound; -1
// for none.
func (w *wholeFilling) top() int {
	top := -1
	for o, n := range w.open {
		if top < 0 || w.nodes[n].bound > w.nodes[w.open[top]].bound {
			top = o
		}
	}
	return top
}

// columns returns the best filling as a column of the program, and the relaxation of the
// best open node, where there are.
func (w *wholeFilling) columns() []lp.Column {
	var out []lp.Column
	if w.best != nil {
		out = append(out, w.p.m.column(w.best))
	}
	o := w.top()
	if o < 0 {
		return out
	}
	s, _, counts := w.relax(w.open[o])
	c := lp.Column{Cost: float64(wholeParts * w.bin.cost)}
	for _, i := range w.items {
		amount := float64(counts[i])
		if slices.Contains(s.Full, i) {
			amount += w.upper[i]
		}
		if q := slices.Index(s.Column[:w.bin.dims], i); q >= 0 {
			amount += s.Amount[q]
		}
		if n := int32(amount*wholeParts + 1e-6); n > 0 {
			c.Rows, c.Counts = append(c.Rows, i), append(c.Counts, n)
		}
	}
	return append(out, c)
}

// bounds returns how many of an item a node allows.
func (w *wholeFilling) bounds(n, item int32) (least, most int32) {
	for ; n >= 0; n = w.nodes[n].parent {
		if w.nodes[n].item == item {
			return w.nodes[n].least, w.nodes[n].most
		}
	}
	return 0, w.p.left.most(item)
}

// relax solves the relaxation of a node. It returns what the items are worth that the node
// asks for, and their number by item; nil when they do not fit.
func (w *wholeFilling) relax(n int32) (s *lp.Solution, fixed float64, counts map[int32]int32) {
	room, fixed, counts := w.begin(n)
	if room == nil {
		return nil, 0, nil
	}
	size := room.Scaled(&w.p.m.scale, w.p.m.n)
	saved, basis := w.p.relaxation.Upper, w.basis.basis
	w.p.relaxation.Upper = w.upper
	s = w.p.relaxation.Solve(w.items, &size, w.bin.dims, &basis)
	w.p.relaxation.Upper = saved
	return s, fixed, counts
}

// add relaxes a node and keeps it open if fillings of it may be worth more than the best.
func (w *wholeFilling) add(x wholeNode) {
	at := int32(len(w.nodes))
	w.nodes = append(w.nodes, x)
	s, fixed, counts := w.relax(at)
	if s == nil {
		return
	}
	y := &w.nodes[at]
	if y.bound = fixed + s.Value; y.bound <= max(w.value, w.bin.cost)*(1+1e-9) {
		return
	}
	y.split = -1
	worst := 1e-6
	for q := range w.bin.dims {
		i := s.Column[q]
		if i < 0 {
			continue
		}
		if part := math.Abs(s.Amount[q] - math.Round(s.Amount[q])); part > worst {
			worst, y.split, y.amount = part, i, s.Amount[q]+float64(counts[i])
		}
	}
	if y.split >= 0 {
		w.open = append(w.open, at)
		return
	}
	for q := range w.bin.dims {
		if i := s.Column[q]; i >= 0 {
			counts[i] += int32(math.Round(s.Amount[q]))
		}
	}
	for _, i := range s.Full {
		counts[i] += int32(w.upper[i])
	}
	if !w.keep(counts) { // rounding errors: the node counts with its bound
		w.value = max(w.value, y.bound)
	}
}

// begin sets the bounds of a node. It returns the capacity that is left beside the items
// that the node asks for, what these are worth, and their number by item; nil when they
// do not fit.
func (w *wholeFilling) begin(n int32) (room *vec.Vector, fixed float64, counts map[int32]int32) {
	for _, i := range w.items {
		w.upper[i] = w.p.left.upper[i]
	}
	left := w.bin.capacity
	counts = map[int32]int32{}
	seen := map[int32]bool{}
	for ; n >= 0; n = w.nodes[n].parent {
		x := &w.nodes[n]
		if x.item < 0 || seen[x.item] {
			continue
		}
		seen[x.item] = true
		if x.least > x.most {
			return nil, 0, nil
		}
		w.upper[x.item] = float64(x.most - x.least)
		counts[x.item] = x.least
		left.Add(&w.p.m.items[x.item].Size, -int64(x.least))
		fixed += float64(w.p.dual[x.item] * float64(x.least))
	}
	for r := range w.p.m.n {
		if left[r] < 0 {
			return nil, 0, nil
		}
	}
	return &left, fixed, counts
}

// keep keeps a filling that is worth more than the best. It reports false when it does not
// fit the bin.
func (w *wholeFilling) keep(counts map[int32]int32) bool {
	f := &Pattern{Bin: w.at}
	value := 0.0
	for _, i := range w.items {
		if n := counts[i]; n > 0 {
			f.Items, f.Counts = append(f.Items, i), append(f.Counts, n)
			value += float64(w.p.dual[i] * float64(n))
		}
	}
	size := w.p.m.size(f)
	if !vec.Fits(&size, &w.bin.capacity, w.p.m.n) {
		return false
	}
	if value > w.value {
		w.best, w.value = f, value
	}
	return true
}
