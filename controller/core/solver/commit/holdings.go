package commit

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// Holdings are the bounds less nodes under construction, each of which counts as one
// offer.
type Holdings struct{ bounds *Bounds }

// NewHoldings returns the bounds before there is any node.
func NewHoldings(p *problem.Problem, headroom []model.Headroom) *Holdings {
	return &Holdings{bounds: newLimits(p, headroom)}
}

// Affordable returns the set of offers that one more node may be launched as.
func (h *Holdings) Affordable() vec.Bits { return h.bounds.Affordable() }

// Bound reports whether anything limits the nodes of a template.
func (h *Holdings) Bound(template int32) bool {
	return h.bounds.Bounded(h.bounds.p.Supply.Templates[template].Pool)
}

// Affords reports whether limits, headroom and reservations allow a node of offer o in
// the place of one of offer instead, of the same node template; instead is -1 for another
// node.
func (h *Holdings) Affords(o, instead int32) bool {
	b := h.bounds
	if instead < 0 {
		return b.affords(o)
	}
	if o != instead && !b.ReservationLeft(o) {
		return false
	}
	f, old := &b.p.Supply.Offers[o], &b.p.Supply.Offers[instead]
	pool := b.p.Supply.Templates[f.Template].Pool
	for _, s := range b.scopes[pool] {
		if f.Price-old.Price > b.headroom[s] {
			return false
		}
	}
	usage, freed := b.p.Supply.Shapes[f.Shape].Usage, b.p.Supply.Shapes[old.Shape].Usage
	for i, l := range b.Limits[pool] {
		if usage[i]-freed[i] > l.Left {
			return false
		}
	}
	return true
}

// Hold deducts a node of offer o and gives back one of offer instead, of the same node
// template; instead is -1 for none.
func (h *Holdings) Hold(o, instead int32) {
	pool := h.bounds.p.Supply.Templates[h.bounds.p.Supply.Offers[o].Template].Pool
	if o == instead || !h.bounds.Bounded(pool) {
		return
	}
	h.deduct(pool, o, 1)
	if instead >= 0 {
		h.deduct(pool, instead, -1)
	}
}

// Release gives back a node of offer o.
func (h *Holdings) Release(o int32) {
	if pool := h.bounds.p.Supply.Templates[h.bounds.p.Supply.Offers[o].Template].Pool; h.bounds.Bounded(pool) {
		h.deduct(pool, o, -1)
	}
}

// deduct takes a node of an offer for sign 1, and gives it back for -1.
func (h *Holdings) deduct(pool, o int32, sign int) {
	worst, need := h.bounds.worst(pool, []int32{o})
	h.bounds.change(pool, worst, need, int64(sign))
	if left := h.bounds.reserved[o]; left != nil {
		*left -= sign
	}
}
