package explain

import (
	"fmt"
	"strconv"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// filter follows the offerings of a variant through everything that could stop a pod, and
// counts how many pass each step.
type filter struct {
	pod     *Pod
	pool    *Pool
	variant *Variant

	selected, pooled, ports, fit, available, ranked, allowed int
	// largest is the most room seen of each resource.
	largest vec.Vector
	// excluded and denied are refusals seen last.
	excluded, denied *Refusal
	cheapest         Offering
	price            model.Price
}

func (f *filter) run() {
	for o := range f.variant.Offerings {
		if !f.pod.Spec.Selects(o.Label) {
			continue
		}
		f.selected++
		if o.InPool() {
			f.pooled++
			f.offering(o)
		}
	}
}

// offering follows an offering that pod and pool allow.
func (f *filter) offering(o Offering) {
	room, portTaken := o.Room()
	if portTaken {
		f.ports++
		return
	}
	f.largest.Raise(&room)
	if !vec.Fits(&f.pod.Requests, &room, len(f.pod.Resources)) {
		return
	}
	f.fit++
	if !o.Available() {
		return
	}
	f.available++
	if no := o.Excluded(); no != nil {
		f.excluded = no
		return
	}
	f.ranked++
	if no := o.Denied(); no != nil {
		f.denied = no
		return
	}
	f.allowed++
	if price, ok := o.Price(); ok && (f.cheapest == nil || price < f.price) {
		f.cheapest, f.price = o, price
	}
}

// passed is how far the offerings came: the steps that they passed, summed.
func (f *filter) passed() int {
	return f.selected + f.pooled + f.fit + f.available + f.ranked + f.allowed
}

// reason is the first step that no offering passed.
func (f *filter) reason() model.Reason {
	switch {
	case f.selected == 0:
		return f.unselected()
	case f.pooled == 0:
		return model.Reason{
			Code:    model.RequirementsConflict,
			Message: "the NodePool's requirements exclude every offering that " + selectionText(f.pod.Spec) + " allows",
		}
	case f.ports == f.pooled:
		return model.Reason{
			Code:    model.RequirementsConflict,
			Message: "DaemonSets hold its host port " + constraint.PortText(f.pod.Spec.HostPorts) + " on every node",
		}
	case f.fit == 0:
		return f.tooLarge()
	case f.available == 0:
		return model.Reason{Code: model.NoCapacity, Message: fmt.Sprintf("all %d offerings that fit are sold out for now", f.fit)}
	case f.ranked == 0:
		return f.excluded.reason(model.RankExcluded, "drops every offering that fits")
	case f.allowed == 0:
		return f.denied.reason(model.LaunchDenied, "denies the launch")
	}
	return f.variant.Bound(f.cheapest)
}

// reason says what the policy did.
func (r *Refusal) reason(code model.ReasonCode, did string) model.Reason {
	text := "policy " + r.Policy + " " + did
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return model.Reason{Code: code, Policy: r.Policy, Message: text}
}

// unselected tells a label that the pool's nodes lack from a selector that nothing in
// the catalogue meets.
func (f *filter) unselected() model.Reason {
	if text := f.conflict(); text != "" {
		return model.Reason{Code: model.RequirementsConflict, Message: text}
	}
	return model.Reason{
		Code:    model.NoInstanceType,
		Message: "no instance type of NodeClass " + strconv.Quote(f.pool.Of.NodeClass) + " meets " + selectionText(f.pod.Spec),
	}
}

// tooLarge names the resource that no matching type has enough of.
func (f *filter) tooLarge() model.Reason {
	for r, name := range f.pod.Resources {
		if f.pod.Requests[r] <= f.largest[r] {
			continue
		}
		msg := fmt.Sprintf("asks for %s, the largest matching instance type leaves %s to pods",
			Amount(name, f.pod.Requests[r]), Amount(name, f.largest[r]))
		if f.largest[r] == 0 {
			msg = "no matching instance type has " + name
		}
		return model.Reason{Code: model.TooLarge, Message: msg}
	}
	return model.Reason{Code: model.TooLarge, Message: "no matching instance type has enough of all resources together"}
}
