package decide

import (
	"context"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

// shortage sets Short on the caps that keep pods of the plan pending. When several
// caps fit a reason, it is the one that the plan leaves the least under. The result
// says by pool whether consolidating its nodes frees money that pods wait for; it is
// nil when no cap keeps a pod pending.
func (d *decider) shortage() []bool {
	var pools []bool
	for i := range d.out.Plan.Unplaced {
		u := &d.out.Plan.Unplaced[i]
		for r := range u.Reasons {
			h := d.headroomInTheWay(&u.Reasons[r], d.s.Pods[u.Pod].Namespace)
			if h == nil {
				continue
			}
			if pools == nil {
				pools = make([]bool, len(d.s.Pools))
			}
			h.Short = true
			d.poolsIn(h.Scope, pools)
		}
	}
	return pools
}

// headroomInTheWay returns the cap that a reason refers to, nil for other reasons.
func (d *decider) headroomInTheWay(r *model.Reason, namespace string) *CapStatus {
	if r.Code != model.CeilingReached {
		return nil
	}
	pool := slices.IndexFunc(d.s.Pools, func(p model.Pool) bool { return p.Name == r.Pool })
	var tightest *CapStatus
	least := model.Price(0)
	for i := range d.out.Headroom {
		h := &d.out.Headroom[i]
		if h.Soft || h.Policy != r.Policy {
			continue
		}
		if space, ok := strings.CutPrefix(h.Scope, spend.Namespace); ok || r.Pool == "" {
			if r.Pool == "" && space == namespace {
				return h
			}
			continue
		}
		if in := d.poolsIn(h.Scope, make([]bool, len(d.s.Pools))); pool < 0 || !in[pool] {
			continue
		}
		if left := h.Left - d.planned(h.Scope); tightest == nil || left < least {
			tightest, least = h, left
		}
	}
	return tightest
}

// poolsIn sets the pools of a scope in pools and returns it. A namespace's scope has
// every pool, since its pods may run on the nodes of any.
func (d *decider) poolsIn(scope string, pools []bool) []bool {
	space := strings.HasPrefix(scope, spend.Namespace)
	at := slices.IndexFunc(d.in.Headroom, func(h model.Headroom) bool { return h.Scope == scope })
	for i := range pools {
		pools[i] = pools[i] || space || at >= 0 && (d.in.Headroom[at].Pools == nil || d.in.Headroom[at].Pools[i])
	}
	return pools
}

// planned returns the hourly price of the plan's nodes within a scope, each at the
// worst of its options.
func (d *decider) planned(scope string) model.Price {
	sum, in := model.Price(0), d.poolsIn(scope, make([]bool, len(d.s.Pools)))
	for i := range d.out.Plan.Nodes {
		if n := &d.out.Plan.Nodes[i]; in[n.Pool] {
			sum += n.Worst() + d.s.NodeCost(n.Pool)
		}
	}
	return sum
}

// freeHeadroom looks for nodes of capped pools that can be deleted without a
// replacement. Unlike search it also runs while the plan launches nodes, since pods
// wait for the money that it frees.
func (j *disrupter) freeHeadroom(ctx context.Context, options []option, on []*Command) {
	projection := (&searchStep{j}).projection(ctx, on)
	options = slices.DeleteFunc(slices.Clone(options), func(o option) bool { return !j.short[j.s.Nodes[o.node].Pool] })
	(&searchStep{j}).underutilized(ctx, projection, options, disrupt.Effort{Deletes: disrupt.DefaultEffort().Deletes})
}
