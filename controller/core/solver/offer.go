package solver

import (
	"cmp"
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// offer is one thing that can be launched: a node template's instance type in a zone at
// a capacity type. Offers are numbered by node template, type name, zone and capacity
// type, whatever the order of the catalogue.
type offer struct {
	template, typ, offering int32
	key                     int32
	shape                   int32
	price                   model.Price
	// cost is what the first node of the offer costs in effect.
	cost float64
}

// tiers are the offer's tiers, those of Input.Costs.
func (p *problem) tiers(o int32) []Tier {
	f := &p.offers[o]
	if e := p.effective(p.templates[f.template].pool, f.typ, f.offering); e != nil {
		return e.Tiers
	}
	return nil
}

// capacityShape is the room that an instance type leaves for pods in a node template, DaemonSets
// deducted. Offers of a type differ in it only where a DaemonSet chooses zones
// or capacity types.
type capacityShape struct {
	template, typ int32
	capacity      vec.Vector
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
func (p *problem) denial(pool int32, t *model.InstanceType, o *model.Offering) *model.Denied {
	for i := range p.in.Denied {
		d := &p.in.Denied[i]
		if d.Pool == pool && (d.InstanceType == "" || d.InstanceType == t.Name) &&
			(d.Zone == "" || d.Zone == o.Zone) && (d.CapacityType == "" || d.CapacityType == o.CapacityType) {
			return d
		}
	}
	return nil
}

// newOffers lists what every node template can launch now.
func (p *problem) newOffers() {
	for l := range p.templates { // slots are numbered before anything asks for them
		p.catalogue(p.snap.Pools[p.templates[l].pool].Catalog)
	}
	types, keys, most := make([][]bool, len(p.templates)), make([][]bool, len(p.templates)), 0
	for l := range p.templates {
		pool := &p.snap.Pools[p.templates[l].pool]
		cat := p.catalogue(pool.Catalog)
		types[l], keys[l] = p.poolChoice(&p.templates[l], pool, cat)
		for t, ok := range types[l] {
			if ok {
				most += len(cat.offerings[t])
			}
		}
	}
	p.offers = make([]offer, 0, most)
	for l := range p.templates {
		ln := &p.templates[l]
		ln.from = int32(len(p.offers))
		p.templateOffers(int32(l), types[l], keys[l])
		ln.to = int32(len(p.offers))
	}
}

// sortTemplates orders every node template's offers by cost. It may run beside whatever
// looks at offers in another order and leaves their costs alone.
func (p *problem) sortTemplates() {
	for l := range p.templates {
		ln := &p.templates[l]
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

// templateOffers adds the offers of a node template's types and keys.
func (p *problem) templateOffers(l int32, typeOK, keyOK []bool) {
	ln := &p.templates[l]
	pool := &p.snap.Pools[ln.pool]
	cat := p.catalogue(pool.Catalog)
	for _, t := range cat.types {
		if !typeOK[t] {
			continue
		}
		typ := &cat.src.Types[t]
		for _, o := range cat.offerings[t] {
			f := &typ.Offerings[o]
			if !f.Available || !keyOK[cat.keys[t][o]] {
				continue
			}
			e := p.effective(ln.pool, t, o)
			if e != nil && e.Excluded || len(p.in.Denied) > 0 && p.denial(ln.pool, typ, f) != nil {
				continue
			}
			next := offer{template: l, typ: t, offering: o, key: cat.keys[t][o], price: f.Price, cost: f.Price.USD()}
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

// poolChoice says which types and keys the pool's requirements leave.
func (p *problem) poolChoice(ln *nodeTemplate, pool *model.Pool, cat *catalogue) (typeOK, keyOK []bool) {
	typeOK = make([]bool, len(cat.src.Types))
	keyOK = make([]bool, len(p.keys.keys))
	for i := range typeOK {
		typeOK[i] = true
	}
	for i := range keyOK {
		keyOK[i] = true
	}
	for i := range pool.Requirements {
		r := &pool.Requirements[i]
		if _, _, ours := (&offeringKey{}).value(r.Key); ours {
			for s := range keyOK {
				v, present, _ := p.keys.keys[s].value(r.Key)
				keyOK[s] = keyOK[s] && r.Matches(v, present)
			}
			continue
		}
		if v, ok := ln.labels[r.Key]; ok {
			if r.Key != constraint.LabelHostname && !r.Matches(v, true) {
				clear(keyOK)
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
	return typeOK, keyOK
}

// newShapes deducts the DaemonSets that will run beside the pods.
func (p *problem) newShapes() {
	daemons := p.newDaemons()
	kinds := 0
	for o := range p.offers {
		if f := &p.offers[o]; o == 0 || p.offers[o-1].typ != f.typ || p.offers[o-1].template != f.template {
			kinds++
		}
	}
	p.shapes = make([]capacityShape, 0, kinds)
	choosy := slices.ContainsFunc(daemons, func(d daemon) bool { return d.offers != nil })
	for l := range p.templates {
		ln := &p.templates[l]
		limited := limits(&p.snap.Pools[ln.pool])
		first := int32(len(p.shapes))
		for o := ln.from; o < ln.to; o++ {
			f := &p.offers[o]
			if o == ln.from || p.offers[o-1].typ != f.typ {
				first = int32(len(p.shapes))
			}
			if !choosy && int(first) < len(p.shapes) {
				f.shape = first
				continue
			}
			f.shape = p.shapeFor(daemons, o, first, limited)
		}
	}
}

// shapeFor finds the offer's bin among those of its type, from first on, or
// makes it.
func (p *problem) shapeFor(daemons []daemon, o, first int32, limited []limit) int32 {
	f := &p.offers[o]
	b := capacityShape{template: f.template, typ: f.typ}
	if n := len(p.shapes); n > 0 {
		b.daemons, b.ports = p.shapes[n-1].daemons, p.shapes[n-1].ports // mostly the same
	}
	var sum vec.Vector
	sets, ports := 0, 0
	for i := range daemons {
		if d := &daemons[i]; d.templates[f.template] && (d.offers == nil || d.offers.Has(o)) {
			sum.Add(&d.req, 1)
			b.daemons = setAt(b.daemons, sets, int32(d.set))
			if sets++; d.ports >= 0 {
				b.ports = setAt(b.ports, ports, d.ports)
				ports++
			}
		}
	}
	b.daemons, b.ports = slices.Clip(b.daemons[:sets]), slices.Clip(b.ports[:ports])
	typ := p.offerType(o)
	alloc := p.dims.vector(typ.Allocatable)
	for r := range b.capacity {
		b.capacity[r] = max(0, alloc[r]-sum[r])
	}
	for i := first; i < int32(len(p.shapes)); i++ {
		if p.shapes[i].capacity == b.capacity && slices.Equal(p.shapes[i].ports, b.ports) {
			return i
		}
	}
	b.usage = make([]int64, len(limited))
	for i := range limited {
		if b.usage[i] = typ.Capacity[limited[i].name]; limited[i].name == model.NodeCount {
			b.usage[i] = 1
		}
	}
	p.shapes = append(p.shapes, b)
	return int32(len(p.shapes) - 1)
}

// setAt makes x element i of a list, which is copied if it has another there.
func setAt(list []int32, i int, x int32) []int32 {
	if i < len(list) && list[i] == x {
		return list
	}
	return append(slices.Clip(list[:i]), x)
}

// daemonRequests is what the DaemonSets on a bin request.
func (p *problem) daemonRequests(b int32) model.Resources {
	sum := model.Resources{}
	for _, i := range p.shapes[b].daemons {
		sum.Add(p.snap.Daemons[i].Spec.Requests)
	}
	return sum
}

func (p *problem) offerType(o int32) *model.InstanceType {
	f := &p.offers[o]
	pool := &p.snap.Pools[p.templates[f.template].pool]
	return &p.snap.Catalogs[pool.Catalog].Types[f.typ]
}

// daemon is a DaemonSet with the offers it will run on.
type daemon struct {
	set       int
	req       vec.Vector
	ports     int32
	templates []bool
	// offers is nil when it asks nothing of its node.
	offers vec.Bits
}

func (p *problem) newDaemons() []daemon {
	out := make([]daemon, len(p.snap.Daemons))
	for i := range p.snap.Daemons {
		s := &p.snap.Daemons[i].Spec
		d := daemon{set: i, req: p.dims.requests(s.Requests), ports: p.ports.ID(s.HostPorts), templates: p.tolerated(s.Tolerations)}
		if len(s.NodeSelector) > 0 || len(s.Affinity) > 0 {
			d.offers = p.selected(s)
		}
		out[i] = d
	}
	return out
}
