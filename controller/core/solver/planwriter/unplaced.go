package planwriter

import (
	"iter"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/explain"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// explainer lists the pods without a place, and finds the reasons on request.
type explainer struct {
	p *problem.Problem
	b *commit.Bounds
	// blocked says, by pool, why nothing may be launched from it. headroom is that of
	// the input.
	blocked  []*model.Reason
	headroom []model.Headroom
	// pending are the reasons that have not been found yet.
	pending []pendingReasons
	// offersByID are the offers' numbers; nil before the first lookup.
	offersByID map[offerID]int32
}

// pendingReasons are the reasons of a class, which explain fills in.
type pendingReasons struct {
	cl      *problem.Class
	reasons []model.Reason
}

// unplaced lists the pods without a place, by class. explain later fills in a reason
// for every pool. Pods of a class share their reasons. next is, by class, the index
// of its first pod without a place.
func (x *explainer) unplaced(next []int) []model.Unplaced {
	var out []model.Unplaced
	memo := map[string][]model.Reason{}
	for c := range x.p.Classes {
		cl := &x.p.Classes[c]
		pods := cl.Pods[next[c]:]
		if len(pods) == 0 {
			continue
		}
		reasons := cl.Reasons
		if len(reasons) == 0 {
			key := cl.Key[:8*x.p.Supply.Dims.N()] + cl.Key[8*x.p.Supply.Dims.N()+4:] // all but the priority
			if reasons = memo[key]; reasons == nil {
				reasons = make([]model.Reason, max(1, len(x.p.Snapshot.Pools)))
				memo[key] = reasons
				x.pending = append(x.pending, pendingReasons{cl, reasons})
			}
		}
		for _, i := range pods {
			out = append(out, model.Unplaced{Pod: i, Reasons: reasons})
		}
	}
	return out
}

// explain finds the reasons of the pods without a place.
func (x *explainer) explain() {
	for _, s := range x.pending {
		pod := explain.Pod{Spec: s.cl.Spec, Requests: s.cl.Requests, Resources: x.p.Supply.Dims.NamesFor(s.cl.Spec.Requests)}
		copy(s.reasons, explain.Why(&pod, x.pools(s.cl)))
	}
	x.pending = nil
}

// pools returns the NodePools from the view of a class.
func (x *explainer) pools(cl *problem.Class) []explain.Pool {
	out := make([]explain.Pool, len(x.p.Snapshot.Pools))
	for i := range out {
		pool := &x.p.Snapshot.Pools[i]
		out[i] = explain.Pool{
			Of:      pool,
			Sells:   pool.Catalog >= 0 && int(pool.Catalog) < len(x.p.Snapshot.Catalogs),
			Defines: func(key string) bool { return x.p.Supply.Defines(pool, key) },
		}
		if i < len(x.blocked) {
			out[i].Blocked = x.blocked[i]
		}
	}
	for t := range x.p.Supply.Templates {
		tm := &x.p.Supply.Templates[t]
		out[tm.Pool].Variants = append(out[tm.Pool].Variants, explain.Variant{
			Labels: tm.Labels, Offerings: x.offerings(cl, tm),
			Bound: func(cheapest explain.Offering) model.Reason { return x.bound(cl, int32(t), cheapest) },
		})
	}
	return out
}

// offerings returns the offerings of a template's catalogue, also those that the
// template may not launch.
func (x *explainer) offerings(cl *problem.Class, tm *supply.Template) iter.Seq[explain.Offering] {
	return func(yield func(explain.Offering) bool) {
		pool := &x.p.Snapshot.Pools[tm.Pool]
		cat := x.p.Supply.Catalogue(pool.Catalog)
		typeOK, keyOK := x.p.Supply.PoolChoice(tm, pool, cat)
		for _, t := range cat.Types {
			for _, o := range cat.Offerings[t] {
				if !yield(&offering{x: x, cl: cl, tm: tm, cat: cat, typ: t, offering: o, inPool: typeOK[t] && keyOK[cat.Keys[t][o]]}) {
					return
				}
			}
		}
	}
}

// offering is an offering of a template's catalogue from the view of a class.
type offering struct {
	x             *explainer
	cl            *problem.Class
	tm            *supply.Template
	cat           *supply.Catalogue
	typ, offering int32
	inPool        bool
}

// Label implements explain.Offering.
func (o *offering) Label(key string) (string, bool) {
	if v, ok := o.tm.Labels[key]; ok {
		return v, true
	}
	if v, present, ours := o.x.p.Supply.Keys.Keys[o.cat.Keys[o.typ][o.offering]].Value(key); ours {
		return v, present
	}
	return constraint.TypeLabel(o.instanceType(), key)
}

// InPool implements explain.Offering.
func (o *offering) InPool() bool { return o.inPool }

// Available implements explain.Offering.
func (o *offering) Available() bool { return o.instanceType().Offerings[o.offering].Available }

// Room implements explain.Offering.
func (o *offering) Room() (room vec.Vector, portTaken bool) {
	p := o.x.p
	room = p.Supply.Dims.Vector(o.instanceType().Allocatable)
	for i := range p.Snapshot.Daemons {
		d := &p.Snapshot.Daemons[i].Spec
		if constraint.Untolerated(d.Tolerations, p.Snapshot.Pools[o.tm.Pool].Taints) != nil || !d.Selects(o.Label) {
			continue
		}
		used := p.Supply.Dims.Uses(d.Requests)
		room.Add(&used, -1)
		portTaken = portTaken || constraint.PortsClash(d.HostPorts, o.cl.Spec.HostPorts)
	}
	for r := range room {
		room[r] = max(0, room[r])
	}
	if i, ok := o.offer(); ok && !supply.FitsRare(p.Supply, i, o.cl.Spec.Requests) {
		room[vec.MaxDims-1] = 0
	}
	return room, portTaken
}

// Excluded implements explain.Offering.
func (o *offering) Excluded() *explain.Refusal {
	if e := o.x.p.Supply.Effective(o.tm.Pool, o.typ, o.offering); e != nil && e.Excluded {
		return &explain.Refusal{Policy: e.Policy, Reason: e.Reason}
	}
	return nil
}

// Denied implements explain.Offering.
func (o *offering) Denied() *explain.Refusal {
	t := o.instanceType()
	if d := o.x.p.Supply.Denial(o.cl.Spec.Namespace, o.tm.Pool, t, &t.Offerings[o.offering]); d != nil {
		return &explain.Refusal{Policy: d.Policy, Reason: d.Reason}
	}
	return nil
}

// Price implements explain.Offering.
func (o *offering) Price() (model.Price, bool) {
	i, ok := o.offer()
	if !ok || !o.x.b.ReservationLeft(i) {
		return 0, false
	}
	return o.x.p.Supply.Offers[i].Price, true
}

func (o *offering) instanceType() *model.InstanceType { return &o.cat.Source.Types[o.typ] }

// offer returns the number of the offering's offer; false when packing leaves it
// out.
func (o *offering) offer() (int32, bool) { return o.x.offer(offerID{o.tm.From, o.typ, o.offering}) }

// offerID identifies an offer: the first offer of its node template, and its type
// and offering in the catalogue.
type offerID struct{ from, typ, offering int32 }

// offer returns the number of an offer; false when there is none.
func (x *explainer) offer(of offerID) (int32, bool) {
	if x.offersByID == nil {
		x.offersByID = make(map[offerID]int32, len(x.p.Supply.Offers))
		for i := range x.p.Supply.Offers {
			f := &x.p.Supply.Offers[i]
			x.offersByID[offerID{x.p.Supply.Templates[f.Template].From, f.Type, f.Offering}] = int32(i)
		}
	}
	i, ok := x.offersByID[of]
	return i, ok
}
