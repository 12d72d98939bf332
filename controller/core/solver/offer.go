package solver

import (
	"cmp"
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// offer is one thing that can be launched: a lane's instance type in a zone at
// a capacity type. Offers are numbered by lane, type name, zone and capacity
// type, whatever the order of the catalogue.
type offer struct {
	lane, typ, offering int32
	slot                int32
	bin                 int32
	price               model.Price
	// cost is what the first node of the offer costs in effect.
	cost float64
}

// tiers are the offer's tiers, those of Input.Costs.
func (p *problem) tiers(o int32) []Tier {
	f := &p.offers[o]
	if e := p.effective(p.lanes[f.lane].pool, f.typ, f.offering); e != nil {
		return e.Tiers
	}
	return nil
}

// bin is the room that an instance type leaves for pods in a lane, DaemonSets
// deducted. Offers of a type differ in it only where a DaemonSet chooses zones
// or capacity types.
type bin struct {
	lane, typ int32
	room      vec
	// daemons are the DaemonSets, ports the host ports that they hold.
	daemons []int32
	ports   []int32
	// usage is what a node takes from the pool's limits, in their order.
	usage []int64
}

// effective is what the rank policies say of an offering, nil for nothing.
func (p *problem) effective(pool, typ, offering int32) *Effective {
	if int(pool) >= len(p.in.Costs) || int(typ) >= len(p.in.Costs[pool]) ||
		int(offering) >= len(p.in.Costs[pool][typ]) {
		return nil
	}
	return &p.in.Costs[pool][typ][offering]
}

// denial is the first refusal that covers the launch, nil when there is none.
func (p *problem) denial(pool int32, t *model.InstanceType, o *model.Offering) *Denied {
	for i := range p.in.Denied {
		d := &p.in.Denied[i]
		if d.Pool == pool && (d.InstanceType == "" || d.InstanceType == t.Name) &&
			(d.Zone == "" || d.Zone == o.Zone) && (d.CapacityType == "" || d.CapacityType == o.CapacityType) {
			return d
		}
	}
	return nil
}

// newOffers lists what every lane can launch now.
func (p *problem) newOffers() {
	for l := range p.lanes { // slots are numbered before anything asks for them
		p.catalogue(p.snap.Pools[p.lanes[l].pool].Catalog)
	}
	types, slots, most := make([][]bool, len(p.lanes)), make([][]bool, len(p.lanes)), 0
	for l := range p.lanes {
		pool := &p.snap.Pools[p.lanes[l].pool]
		cat := p.catalogue(pool.Catalog)
		types[l], slots[l] = p.poolChoice(&p.lanes[l], pool, cat)
		for t, ok := range types[l] {
			if ok {
				most += len(cat.offerings[t])
			}
		}
	}
	p.offers = make([]offer, 0, most)
	for l := range p.lanes {
		ln := &p.lanes[l]
		ln.from = int32(len(p.offers))
		p.laneOffers(int32(l), types[l], slots[l])
		ln.to = int32(len(p.offers))
	}
}

// sortLanes orders every lane's offers by cost. It may run beside whatever
// looks at offers in another order and leaves their costs alone.
func (p *problem) sortLanes() {
	for l := range p.lanes {
		ln := &p.lanes[l]
		ln.byCost = p.sortOffers(ln.from, ln.to)
	}
}

// sortOffers lists offers in the order of compareOffers. Costs are sorted by
// their bits, digit by digit, which is several times faster than comparing.
func (p *problem) sortOffers(from, to int32) []int32 {
	const digit, mask = 11, 1<<11 - 1
	keys := make([]uint64, to-from)
	list, other := make([]int32, to-from), make([]int32, to-from)
	differ := uint64(0)
	for i := range list {
		bits := math.Float64bits(p.offers[from+int32(i)].cost)
		if bits>>63 != 0 { // below zero
			bits = ^bits
		} else {
			bits |= 1 << 63
		}
		list[i], keys[i] = from+int32(i), bits
		differ |= bits ^ keys[0]
	}
	for shift := 0; differ>>shift != 0; shift += digit {
		if differ>>shift&mask == 0 {
			continue
		}
		var start [1 << digit]int32
		for _, k := range keys {
			start[k>>shift&mask]++
		}
		sum := int32(0)
		for d := range start {
			start[d], sum = sum, sum+start[d]
		}
		for _, o := range list {
			at := &start[keys[o-from]>>shift&mask]
			other[*at] = o
			*at++
		}
		list, other = other, list
	}
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && p.offers[list[j]].cost == p.offers[list[i]].cost {
			j++
		}
		if j-i > 1 {
			slices.SortFunc(list[i:j], p.compareOffers)
		}
		i = j
	}
	return list
}

// compareOffers orders by effective cost, billed price and number, and numbers
// follow names.
func (p *problem) compareOffers(a, b int32) int {
	x, y := &p.offers[a], &p.offers[b]
	if o := cmp.Compare(x.cost, y.cost); o != 0 {
		return o
	}
	if o := cmp.Compare(x.price, y.price); o != 0 {
		return o
	}
	return cmp.Compare(a, b)
}

// laneOffers adds the offers of a lane's types and slots.
func (p *problem) laneOffers(l int32, typeOK, slotOK []bool) {
	ln := &p.lanes[l]
	pool := &p.snap.Pools[ln.pool]
	cat := p.catalogue(pool.Catalog)
	for _, t := range cat.types {
		if !typeOK[t] {
			continue
		}
		typ := &cat.src.Types[t]
		for _, o := range cat.offerings[t] {
			f := &typ.Offerings[o]
			if !f.Available || !slotOK[cat.slots[t][o]] {
				continue
			}
			e := p.effective(ln.pool, t, o)
			if e != nil && e.Excluded || len(p.in.Denied) > 0 && p.denial(ln.pool, typ, f) != nil {
				continue
			}
			next := offer{lane: l, typ: t, offering: o, slot: cat.slots[t][o], price: f.Price, cost: f.Price.USD()}
			next.rank(e)
			p.offers = append(p.offers, next)
		}
	}
}

// rank takes over what the rank policies say, if anything.
func (f *offer) rank(e *Effective) {
	if e != nil && len(e.Tiers) > 0 {
		f.cost = e.Tiers[0].Cost
	}
}

// poolChoice says which types and slots the pool's requirements leave.
func (p *problem) poolChoice(ln *lane, pool *model.Pool, cat *catalogue) (typeOK, slotOK []bool) {
	typeOK = make([]bool, len(cat.src.Types))
	slotOK = make([]bool, len(p.slots.slots))
	for i := range typeOK {
		typeOK[i] = true
	}
	for i := range slotOK {
		slotOK[i] = true
	}
	for i := range pool.Requirements {
		r := &pool.Requirements[i]
		if _, _, ours := (&slot{}).value(r.Key); ours {
			for s := range slotOK {
				v, present, _ := p.slots.slots[s].value(r.Key)
				slotOK[s] = slotOK[s] && r.Matches(v, present)
			}
			continue
		}
		if v, ok := ln.labels[r.Key]; ok {
			if r.Key != labelHostname && !r.Matches(v, true) {
				clear(slotOK)
			}
			continue
		}
		if p.defines(pool, r.Key) {
			continue
		}
		col := cat.column(r.Key)
		match := col.matching(r)
		for t := range typeOK {
			typeOK[t] = typeOK[t] && match[col.byType[t]]
		}
	}
	return typeOK, slotOK
}

// newBins deducts the DaemonSets that will run beside the pods.
func (p *problem) newBins() {
	daemons := p.newDaemons()
	kinds := 0
	for o := range p.offers {
		if f := &p.offers[o]; o == 0 || p.offers[o-1].typ != f.typ || p.offers[o-1].lane != f.lane {
			kinds++
		}
	}
	p.bins = make([]bin, 0, kinds)
	choosy := slices.ContainsFunc(daemons, func(d daemon) bool { return d.offers != nil })
	for l := range p.lanes {
		ln := &p.lanes[l]
		lim := limits(&p.snap.Pools[ln.pool])
		first := int32(len(p.bins))
		for o := ln.from; o < ln.to; o++ {
			f := &p.offers[o]
			if o == ln.from || p.offers[o-1].typ != f.typ {
				first = int32(len(p.bins))
			}
			if !choosy && int(first) < len(p.bins) {
				f.bin = first
				continue
			}
			f.bin = p.binFor(daemons, o, first, lim)
		}
	}
}

// binFor finds the offer's bin among those of its type, from first on, or
// makes it.
func (p *problem) binFor(daemons []daemon, o, first int32, lim []limit) int32 {
	f := &p.offers[o]
	b := bin{lane: f.lane, typ: f.typ}
	if n := len(p.bins); n > 0 {
		b.daemons, b.ports = p.bins[n-1].daemons, p.bins[n-1].ports // mostly the same
	}
	var sum vec
	sets, ports := 0, 0
	for i := range daemons {
		if d := &daemons[i]; d.lanes[f.lane] && (d.offers == nil || d.offers.has(o)) {
			sum.add(&d.req, 1)
			b.daemons = note(b.daemons, sets, int32(d.set))
			if sets++; d.ports >= 0 {
				b.ports = note(b.ports, ports, d.ports)
				ports++
			}
		}
	}
	b.daemons, b.ports = slices.Clip(b.daemons[:sets]), slices.Clip(b.ports[:ports])
	typ := p.offerType(o)
	alloc := p.dims.vec(typ.Allocatable)
	for r := range b.room {
		b.room[r] = max(0, alloc[r]-sum[r])
	}
	for i := first; i < int32(len(p.bins)); i++ {
		if p.bins[i].room == b.room && slices.Equal(p.bins[i].ports, b.ports) {
			return i
		}
	}
	b.usage = make([]int64, len(lim))
	for i := range lim {
		if b.usage[i] = typ.Capacity[lim[i].name]; lim[i].name == model.NodeCount {
			b.usage[i] = 1
		}
	}
	p.bins = append(p.bins, b)
	return int32(len(p.bins) - 1)
}

// note makes x element i of a list, which is copied if it has another there.
func note(list []int32, i int, x int32) []int32 {
	if i < len(list) && list[i] == x {
		return list
	}
	return append(slices.Clip(list[:i]), x)
}

// overhead is what the DaemonSets on a bin request.
func (p *problem) overhead(b int32) model.Resources {
	sum := model.Resources{}
	for _, i := range p.bins[b].daemons {
		sum.Add(p.snap.Daemons[i].Spec.Requests)
	}
	return sum
}

func (p *problem) offerType(o int32) *model.InstanceType {
	f := &p.offers[o]
	pool := &p.snap.Pools[p.lanes[f.lane].pool]
	return &p.snap.Catalogs[pool.Catalog].Types[f.typ]
}

// daemon is a DaemonSet with the offers it will run on.
type daemon struct {
	set   int
	req   vec
	ports int32
	lanes []bool
	// offers is nil when it asks nothing of its node.
	offers bitset
}

func (p *problem) newDaemons() []daemon {
	out := make([]daemon, len(p.snap.Daemons))
	for i := range p.snap.Daemons {
		s := &p.snap.Daemons[i].Spec
		d := daemon{set: i, req: p.dims.requests(s.Requests), ports: p.ports.id(s.HostPorts), lanes: p.tolerated(s.Tolerations)}
		if len(s.NodeSelector) > 0 || len(s.Affinity) > 0 {
			d.offers = p.selected(s)
		}
		out[i] = d
	}
	return out
}
