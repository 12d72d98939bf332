package planwriter

import (
	"fmt"
	"math"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/explain"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// bound returns which bound prevents a template from launching the cheapest offering
// that fits a pod of a class: minValues, reservations, limits or headroom, checked
// in this order.
func (x *explainer) bound(cl *problem.Class, template int32, cheapest explain.Offering) model.Reason {
	if why := minValuesReason(x.p, cl, template); why != nil {
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

// limitReason names the first limit of the template's pool that is too small for
// every offer that fits; nil for none.
func (x *explainer) limitReason(cl *problem.Class, template int32) *model.Reason {
	tm := &x.p.Supply.Templates[template]
	for i, l := range x.b.Limits[tm.Pool] {
		least := int64(math.MaxInt64)
		for o := tm.From; o < tm.To; o++ {
			shape := &x.p.Supply.Shapes[x.p.Supply.Offers[o].Shape]
			if x.p.Choices.All[cl.Choice].Has(o) && vec.Fits(&cl.Requests, &shape.Capacity, x.p.Supply.Dims.N()) {
				least = min(least, shape.Usage[i])
			}
		}
		if least < math.MaxInt64 && least > l.Left {
			return &model.Reason{Code: model.LimitReached, Message: fmt.Sprintf(
				"limit leaves %s, smallest fitting instance type has %s", explain.Amount(l.Name, max(0, l.Left)), explain.Amount(l.Name, least))}
		}
	}
	return nil
}

// headroomReason names the cap whose headroom is too small for an offer; nil for
// none.
func (x *explainer) headroomReason(o int32) *model.Reason {
	p, f := x.p, &x.p.Supply.Offers[o]
	extra := p.Supply.FixedCost(f.Template)
	left, scope := x.b.HeadroomLeft(p.Supply.Templates[f.Template].Pool)
	if scope < 0 || f.Price+extra <= left {
		return nil
	}
	besides := ""
	if extra > 0 {
		besides = " and " + extra.String() + " $/h for volumes and address"
	}
	h, key := &x.headroom[scope], &p.Supply.Keys.Keys[f.Key]
	return &model.Reason{
		Code: model.CeilingReached, Policy: h.Policy, Scope: h.Scope, Short: f.Price + extra - max(0, left),
		Message: fmt.Sprintf("cap %s on %s leaves %s $/h, cheapest fitting offering %s $/h%s (%s, %s, %s)",
			h.Policy, h.Scope, max(0, left), f.Price, besides, p.Supply.OfferType(o).Name, key.Zone, key.CapacityType),
	}
}

// minValuesReason returns which minValues a node for the class could not satisfy,
// nil when minValues are not the cause.
func minValuesReason(p *problem.Problem, cl *problem.Class, template int32) *model.Reason {
	if !p.Supply.MinValuesStrict(template) {
		return nil
	}
	ln := &p.Supply.Templates[template]
	var fit []int32
	for o := ln.From; o < ln.To; o++ {
		if p.Choices.All[cl.Choice].Has(o) && vec.Fits(&cl.Requests, &p.Supply.Shapes[p.Supply.Offers[o].Shape].Capacity, p.Supply.Dims.N()) {
			fit = append(fit, o)
		}
	}
	wants := p.Supply.MinValues(template)
	w := wants.Unmet(fit)
	if w == nil {
		return nil
	}
	return &model.Reason{Code: model.MinValues, Message: fmt.Sprintf(
		"the NodePool wants nodes to choose from %d values of %s, those that fit have %d", w.N, w.Key, len(wants.Values(fit, w.Key)))}
}
