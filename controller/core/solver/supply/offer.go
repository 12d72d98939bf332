package supply

import (
	"cmp"
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// Offer is an offering that a template may launch now. Offers are numbered by node template, type name, zone and capacity
// type, whatever the order of the catalogue.
type Offer struct {
	Template, Type, Offering int32
	Key                      int32
	Shape                    int32
	Price                    model.Price
	// Cost is what the first node of the offer costs in effect.
	Cost float64
}

// Tiers are what the rank policies say an offer costs; none for its billed price.
func (p *Table) Tiers(o int32) []Tier {
	f := &p.Offers[o]
	if e := p.Effective(p.Templates[f.Template].Pool, f.Type, f.Offering); e != nil {
		return e.Tiers
	}
	return nil
}

// Shape is the room that an instance type leaves for pods in a node template, DaemonSets
// deducted. Offers of a type differ in it only where a DaemonSet chooses zones
// or capacity types.
type Shape struct {
	template, typ int32
	Capacity      vec.Vector
	// daemons are the DaemonSets, ports the host ports that they hold.
	daemons []int32
	Ports   []int32
	// Usage is what a node takes from the pool's limits, in their order.
	Usage []int64
}

// Ranked reports whether rank policies say anything of any offering.
func Ranked(p *Table) bool { return len(p.costs) > 0 }

// Effective is what the rank policies say of an offering; nil when they say nothing.
func (p *Table) Effective(pool, typ, offering int32) *Effective {
	if int(pool) >= len(p.costs) || int(typ) >= len(p.costs[pool]) || int(offering) >= len(p.costs[pool][typ]) {
		return nil
	}
	return &p.costs[pool][typ][offering]
}

// Denial is the first refusal that covers a launch for pods of a namespace, nil when
// there is none. With namespace "" it is one that holds for every namespace.
func (p *Table) Denial(namespace string, pool int32, t *model.InstanceType, o *model.Offering) *model.Denied {
	for i := range p.denied {
		d := &p.denied[i]
		if d.Pool == pool && (d.Namespace == "" || d.Namespace == namespace) && (d.InstanceType == "" || d.InstanceType == t.Name) &&
			(d.Zone == "" || d.Zone == o.Zone) && (d.CapacityType == "" || d.CapacityType == o.CapacityType) {
			return d
		}
	}
	return nil
}

// DeniedAlone reports whether a refusal holds for a namespace, and not for all of them.
func DeniedAlone(p *Table, namespace string) bool {
	return slices.ContainsFunc(p.denied, func(d model.Denied) bool { return d.Namespace != "" && d.Namespace == namespace })
}

// newOffers lists the offers of all templates.
func newOffers(p *Table) {
	for l := range p.Templates { // slots are numbered before anything asks for them
		p.Catalogue(p.snap.Pools[p.Templates[l].Pool].Catalog)
	}
	types, keys, most := make([][]bool, len(p.Templates)), make([][]bool, len(p.Templates)), 0
	for l := range p.Templates {
		pool := &p.snap.Pools[p.Templates[l].Pool]
		cat := p.Catalogue(pool.Catalog)
		types[l], keys[l] = p.PoolChoice(&p.Templates[l], pool, cat)
		for t, ok := range types[l] {
			if ok {
				most += len(cat.Offerings[t])
			}
		}
	}
	p.Offers = make([]Offer, 0, most)
	for l := range p.Templates {
		ln := &p.Templates[l]
		ln.From = int32(len(p.Offers))
		templateOffers(p, int32(l), types[l], keys[l])
		ln.To = int32(len(p.Offers))
	}
}

// SortTemplates orders the offers of every template by cost. It may run beside whatever
// looks at offers in another order and leaves their costs alone.
func (p *Table) SortTemplates() {
	for l := range p.Templates {
		ln := &p.Templates[l]
		ln.ByCost = sortOffers(p, ln.From, ln.To)
	}
}

// sortOffers lists offers in the order of CompareOffers. Costs are sorted by
// their bits, digit by digit, which is several times faster than comparing.
func sortOffers(p *Table, from, to int32) []int32 {
	const digit, mask = 11, 1<<11 - 1
	keys := make([]uint64, to-from)
	list, other := make([]int32, to-from), make([]int32, to-from)
	differ := uint64(0)
	for i := range list {
		bits := math.Float64bits(p.Offers[from+int32(i)].Cost)
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
		for j < len(list) && p.Offers[list[j]].Cost == p.Offers[list[i]].Cost {
			j++
		}
		if j-i > 1 {
			slices.SortFunc(list[i:j], p.CompareOffers)
		}
		i = j
	}
	return list
}

// CompareOffers orders by effective cost, billed price and number, and numbers
// follow names.
func (p *Table) CompareOffers(a, b int32) int {
	x, y := &p.Offers[a], &p.Offers[b]
	if o := cmp.Compare(x.Cost, y.Cost); o != 0 {
		return o
	}
	if o := cmp.Compare(x.Price, y.Price); o != 0 {
		return o
	}
	return cmp.Compare(a, b)
}

// templateOffers adds the offers of a template that are of some types and keys.
func templateOffers(p *Table, l int32, typeOK, keyOK []bool) {
	ln := &p.Templates[l]
	pool := &p.snap.Pools[ln.Pool]
	cat := p.Catalogue(pool.Catalog)
	for _, t := range cat.Types {
		if !typeOK[t] {
			continue
		}
		typ := &cat.Source.Types[t]
		for _, o := range cat.Offerings[t] {
			f := &typ.Offerings[o]
			if !f.Available || !keyOK[cat.Keys[t][o]] {
				continue
			}
			e := p.Effective(ln.Pool, t, o)
			if e != nil && e.Excluded || len(p.denied) > 0 && p.Denial("", ln.Pool, typ, f) != nil {
				continue
			}
			next := Offer{Template: l, Type: t, Offering: o, Key: cat.Keys[t][o], Price: f.Price, Cost: f.Price.USD()}
			next.rank(e)
			p.Reserves = p.Reserves || f.Reservation != nil
			p.Offers = append(p.Offers, next)
		}
	}
}

// rank takes over what the rank policies say, if anything.
func (f *Offer) rank(e *Effective) {
	if e != nil && len(e.Tiers) > 0 {
		f.Cost = e.Tiers[0].Cost
	}
}

// PoolChoice says which types and keys of the catalogue meet the pool's requirements.
func (p *Table) PoolChoice(ln *Template, pool *model.Pool, cat *Catalogue) (typeOK, keyOK []bool) {
	typeOK = make([]bool, len(cat.Source.Types))
	keyOK = make([]bool, len(p.Keys.Keys))
	for i := range typeOK {
		typeOK[i] = true
	}
	for i := range keyOK {
		keyOK[i] = true
	}
	for i := range pool.Requirements {
		r := &pool.Requirements[i]
		if _, _, ours := (&OfferingKey{}).Value(r.Key); ours {
			for s := range keyOK {
				v, present, _ := p.Keys.Keys[s].Value(r.Key)
				keyOK[s] = keyOK[s] && r.Matches(v, present)
			}
			continue
		}
		if v, ok := ln.Labels[r.Key]; ok {
			if r.Key != constraint.LabelHostname && !r.Matches(v, true) {
				clear(keyOK)
			}
			continue
		}
		if p.Defines(pool, r.Key) {
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

// newShapes finds the shape of every offer: its type's allocatable less the requests
// of the DaemonSets that will run on it.
func newShapes(p *Table) {
	daemons := newDaemons(p)
	kinds := 0
	for o := range p.Offers {
		if f := &p.Offers[o]; o == 0 || p.Offers[o-1].Type != f.Type || p.Offers[o-1].Template != f.Template {
			kinds++
		}
	}
	p.Shapes = make([]Shape, 0, kinds)
	choosy := slices.ContainsFunc(daemons, func(d daemon) bool { return d.offers != nil })
	for l := range p.Templates {
		ln := &p.Templates[l]
		limited := LimitsOf(&p.snap.Pools[ln.Pool])
		first := int32(len(p.Shapes))
		for o := ln.From; o < ln.To; o++ {
			f := &p.Offers[o]
			if o == ln.From || p.Offers[o-1].Type != f.Type {
				first = int32(len(p.Shapes))
			}
			if !choosy && int(first) < len(p.Shapes) {
				f.Shape = first
				continue
			}
			f.Shape = shapeFor(p, daemons, o, first, limited)
		}
	}
}

// shapeFor finds the offer's shape among those of its type, which begin at first, or
// adds it.
func shapeFor(p *Table, daemons []daemon, o, first int32, limited []Limit) int32 {
	f := &p.Offers[o]
	b := Shape{template: f.Template, typ: f.Type}
	if n := len(p.Shapes); n > 0 {
		b.daemons, b.Ports = p.Shapes[n-1].daemons, p.Shapes[n-1].Ports // mostly the same
	}
	var sum vec.Vector
	sets, ports := 0, 0
	for i := range daemons {
		if d := &daemons[i]; d.templates[f.Template] && (d.offers == nil || d.offers.Has(o)) {
			sum.Add(&d.req, 1)
			b.daemons = setAt(b.daemons, sets, int32(d.set))
			if sets++; d.ports >= 0 {
				b.Ports = setAt(b.Ports, ports, d.ports)
				ports++
			}
		}
	}
	b.daemons, b.Ports = slices.Clip(b.daemons[:sets]), slices.Clip(b.Ports[:ports])
	typ := p.OfferType(o)
	alloc := p.Dims.Vector(typ.Allocatable)
	for r := range b.Capacity {
		b.Capacity[r] = max(0, alloc[r]-sum[r])
	}
	for i := first; i < int32(len(p.Shapes)); i++ {
		if p.Shapes[i].Capacity == b.Capacity && slices.Equal(p.Shapes[i].Ports, b.Ports) {
			return i
		}
	}
	b.Usage = make([]int64, len(limited))
	for i := range limited {
		if b.Usage[i] = typ.Capacity[limited[i].Name]; limited[i].Name == model.NodeCount {
			b.Usage[i] = 1
		}
	}
	p.Shapes = append(p.Shapes, b)
	return int32(len(p.Shapes) - 1)
}

// setAt returns the list with x as element i. It copies the list if it has another
// element there: shapes share lists.
func setAt(list []int32, i int, x int32) []int32 {
	if i < len(list) && list[i] == x {
		return list
	}
	return append(slices.Clip(list[:i]), x)
}

// DaemonRequests is the sum of what the DaemonSets of a shape request.
func (p *Table) DaemonRequests(b int32) model.Resources {
	sum := model.Resources{}
	for _, i := range p.Shapes[b].daemons {
		sum.Add(p.snap.Daemons[i].Spec.Requests)
	}
	return sum
}

// FitsRare reports whether nodes of an offer have, besides their DaemonSets, the rare
// resources that a pod requests.
func FitsRare(p *Table, o int32, r model.Resources) bool {
	if !p.Dims.AsksRare(r) {
		return true
	}
	free := p.Dims.RareOf(p.OfferType(o).Allocatable)
	for i, used := range p.Dims.RareOf(p.DaemonRequests(p.Offers[o].Shape)) {
		free[i] -= used
	}
	return p.Dims.FitsRare(r, free)
}

// OfferLabel is the value of a label on nodes launched as an offer; false without it.
func (p *Table) OfferLabel(o int32, key string) (string, bool) {
	f := &p.Offers[o]
	ln := &p.Templates[f.Template]
	if v, ok := ln.Labels[key]; ok {
		return v, true
	}
	if v, present, ours := p.Keys.Keys[f.Key].Value(key); ours {
		return v, present
	}
	col := p.Catalogue(p.snap.Pools[ln.Pool].Catalog).column(key)
	at := col.byType[f.Type]
	return col.values[at], at > 0
}

// OfferType is the instance type of an offer.
func (p *Table) OfferType(o int32) *model.InstanceType {
	f := &p.Offers[o]
	pool := &p.snap.Pools[p.Templates[f.Template].Pool]
	return &p.snap.Catalogs[pool.Catalog].Types[f.Type]
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

func newDaemons(p *Table) []daemon {
	out := make([]daemon, len(p.snap.Daemons))
	for i := range p.snap.Daemons {
		s := &p.snap.Daemons[i].Spec
		d := daemon{set: i, req: p.Dims.Uses(s.Requests), ports: p.DaemonPorts.ID(s.HostPorts), templates: p.Tolerated(s.Tolerations)}
		if len(s.NodeSelector) > 0 || len(s.Affinity) > 0 {
			d.offers = p.Selected(s)
		}
		out[i] = d
	}
	return out
}
