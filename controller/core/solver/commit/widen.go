package commit

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// Widened returns the options of a node on spot with more spot offers after them: those that
// cost up to the share above the first option and hold its pods. The more there are, the
// more capacity pools EC2 chooses from. Nodes that are not on spot, that minValues or tiers
// choose the options of, or whose price counts against a headroom, keep their options. In a
// pool with limits, what is added uses no more of them.
func (a *Attempt) Widened(n *Node, share float64) []int32 {
	b, t := a.Bounds, a.p.Supply
	pool := t.Templates[n.Template].Pool
	if b.Tiered || len(b.scopes[pool]) > 0 || len(n.Options) >= a.Options.MaxOptions ||
		!onSpot(t, n.Options[len(n.Options)-1]) || t.MinValues(n.Template).Unmet(nil) != nil {
		return n.Options
	}
	allowed := a.allowed(n)
	_, most := b.worst(pool, n.Options)
	best := b.Cost[n.Options[0]]
	from, to := best*(1+a.Options.Tolerance), best*(1+share)
	out := n.Options
	for _, f := range b.ByCost[n.Template][b.first(n.Template, from):] {
		if b.Cost[f] > to || len(out) == a.Options.MaxOptions {
			break
		}
		if b.Cost[f] <= from || !onSpot(t, f) || !allowed.Has(f) || !vec.Fits(&n.Demand, a.p.Capacity(f), t.Dims.N()) || exceeds(t.Shapes[t.Offers[f].Shape].Usage, most) {
			continue
		}
		if len(out) == len(n.Options) {
			out = slices.Clip(out) // other nodes may share the list
		}
		out = append(out, f)
	}
	return out
}

// allowed returns the offers that all pods of the node allow. [Node.Set] alone may have
// more: pods that join a planned node are only checked against its options.
func (a *Attempt) allowed(n *Node) vec.Bits {
	out := n.Set.Clone()
	for _, placed := range n.Placed {
		out.And(a.p.OffersOf(&a.p.Classes[placed.Class]))
	}
	return out
}

func onSpot(t *supply.Table, offer int32) bool {
	return model.CapacityType(t.Keys.Keys[t.Offers[offer].Key].CapacityType) == model.Spot
}

// exceeds reports whether any part of the usage is more than the most allowed.
func exceeds(usage, most []int64) bool {
	for i := range most {
		if usage[i] > most[i] {
			return true
		}
	}
	return false
}
