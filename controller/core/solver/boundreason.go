package solver

import (
	"fmt"
	"math"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/explain"
	"spokeshave.dev/controller/core/solver/vec"
)

// bound says which bound of the plan keeps a template from launching the cheapest offering
// that fits a pod of a class: minValues, reservations, limits or headroom, in this order.
func (x *explainer) bound(cl *class, template int32, cheapest explain.Offering) model.Reason {
	if why := x.p.minValuesReason(cl, template); why != nil {
		return *why
	}
	if cheapest == nil {
		return model.Reason{Code: model.NoCapacity, Message: "the capacity reservations that fit are used up"}
	}
	if why := x.limitReason(cl, template); why != nil {
		return *why
	}
	if o, ok := cheapest.(*offering).offer(); ok {
		if why := x.headroomReason(o); why != nil {
			return *why
		}
	}
	return model.Reason{Code: model.LimitReached, Message: "limits and headroom together leave no offering that fits"}
}

// limitReason names the first limit of the template's pool that leaves too little for all
// offers that fit; nil for none.
func (x *explainer) limitReason(cl *class, template int32) *model.Reason {
	tm := &x.p.templates[template]
	for i, l := range x.b.limits[tm.pool] {
		least := int64(math.MaxInt64)
		for o := tm.from; o < tm.to; o++ {
			shape := &x.p.shapes[x.p.offers[o].shape]
			if x.p.choices.sets[cl.offers].Has(o) && vec.Fits(&cl.req, &shape.capacity, x.p.dims.n()) {
				least = min(least, shape.usage[i])
			}
		}
		if least < math.MaxInt64 && least > l.left {
			return &model.Reason{Code: model.LimitReached, Message: fmt.Sprintf(
				"limit leaves %s, smallest fitting instance type has %s", explain.Amount(l.name, max(0, l.left)), explain.Amount(l.name, least))}
		}
	}
	return nil
}

// headroomReason names the cap that leaves too little for an offer; nil for none.
func (x *explainer) headroomReason(o int32) *model.Reason {
	p, f := x.p, &x.p.offers[o]
	extra := p.fixedCost(f.template)
	left, scope := x.b.left(p.templates[f.template].pool)
	if scope < 0 || f.price+extra <= left {
		return nil
	}
	besides := ""
	if extra > 0 {
		besides = " and " + extra.String() + " $/h for volumes and address"
	}
	h, key := &p.in.Headroom[scope], &p.keys.keys[f.key]
	return &model.Reason{
		Code: model.CeilingReached, Policy: h.Policy, Scope: h.Scope, Short: f.price + extra - max(0, left),
		Message: fmt.Sprintf("cap %s on %s leaves %s $/h, cheapest fitting offering %s $/h%s (%s, %s, %s)",
			h.Policy, h.Scope, max(0, left), f.price, besides, p.offerType(o).Name, key.zone, key.capacityType),
	}
}
