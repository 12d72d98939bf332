package simulation

import (
	"context"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// faults are what goes wrong in a cluster, each in one case of so many.
type faults struct{ every, struck [kinds]int }

// fault is one kind of mishap.
type fault int

const (
	// dead: the controller dies between two writes.
	dead fault = iota
	// stuck: an instance never becomes a node.
	stuck
	// lost: an instance ends under our feet.
	lost
	// prices change.
	prices
	// swapped: the consolidate policy changes its mind.
	swapped
	kinds
)

func (w *simulatedCluster) strikes(f fault) bool {
	if w.faults == nil || w.rng.IntN(w.faults.every[f]) != 0 {
		return false
	}
	w.faults.struck[f]++
	return true
}

// dies says whether the controller is down, or goes down now.
func (w *simulatedCluster) dies() bool {
	w.down = w.down || w.strikes(dead)
	return w.down
}

// mishaps happen between two decisions.
func (w *simulatedCluster) mishaps() {
	if w.strikes(lost) && len(w.nodes) > 0 {
		m := w.nodes[w.rng.IntN(len(w.nodes))]
		for _, p := range w.pods {
			if p.node == m.Claim {
				w.made++
				p.node, p.since = "", w.clock.Now()
			}
		}
		w.end(m)
	}
	if f := w.fickle(); f != nil {
		f.deny = w.strikes(swapped) || f.deny && w.rng.IntN(10) != 0
	}
	if w.strikes(prices) {
		t := &w.catalog.Types[w.rng.IntN(len(w.catalog.Types))]
		for o := range t.Offerings {
			t.Offerings[o].Price = max(1000, t.Offerings[o].Price*model.Price(80+w.rng.IntN(41))/100)
		}
		for _, m := range w.nodes {
			m.Price = w.price(&m.Node)
		}
	}
}

// price is what the node's offering costs now.
func (w *simulatedCluster) price(n *model.Node) model.Price {
	for i := range w.catalog.Types {
		t := &w.catalog.Types[i]
		for _, o := range t.Offerings {
			if t.Name == n.InstanceType && o.Zone == n.Zone && o.CapacityType == n.CapacityType {
				return o.Price
			}
		}
	}
	return n.Price
}

// fickle is a consolidate policy that lets nothing go every now and then, and a
// ceiling on what all nodes cost.
type fickle struct {
	deny bool
	most *float64
}

func (*fickle) Info() policy.Info {
	return policy.Info{Name: "fickle", Hooks: []policy.Hook{policy.HookConsolidate, policy.HookCeiling}}
}

// Rank implements policy.Policy.
func (*fickle) Rank(context.Context, *policy.RankInput) ([]policy.RankAnswer, error) {
	return nil, policy.ErrNoOpinion
}

// Consolidate implements policy.Policy.
func (f *fickle) Consolidate(_ context.Context, in *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	out := make([]policy.ConsolidateAnswer, len(in.Candidates))
	for i := range out {
		out[i] = policy.ConsolidateAnswer{Verdict: policy.Allow}
		if f.deny {
			out[i] = policy.ConsolidateAnswer{Verdict: policy.Deny, Reason: "not now"}
		}
	}
	return out, nil
}

// Ceiling implements policy.Policy.
func (f *fickle) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	return policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {HourlyUSD: f.most}}}, nil
}

// surgeFor is how long a node and its replacement may both be there before both
// count.
const surgeFor = 30 * time.Minute

// counted is what the nodes cost; of a node and its replacement the dearer one.
func (w *simulatedCluster) counted() model.Price {
	var sum model.Price
	price, marks := map[string]model.Price{}, map[string]*model.Command{}
	for _, m := range w.nodes {
		sum += m.Price
		price[m.Claim] = m.Price
		if m.Command != nil && w.clock.Now().Sub(m.Command.Started) < surgeFor {
			marks[m.Command.ID] = m.Command
		}
	}
	side := func(claims []string) (out model.Price) {
		for _, c := range claims {
			out += price[c]
		}
		return out
	}
	for _, c := range marks {
		sum -= min(side(c.Nodes), side(c.Replacements))
	}
	return sum
}

// affordable fails when a launch takes more than the ceiling leaves. What was
// above it when the decision was made, because prices rose or the cap was lowered,
// may stay, but not grow.
func (w *simulatedCluster) affordable(added *machine) {
	w.t.Helper()
	f := w.fickle()
	if f == nil {
		return
	}
	if now := w.counted(); now > max(model.PriceOf(*f.most), w.committed) {
		w.t.Errorf("%s: %s $/h with %s at %s, %s before; the ceiling is %.4f",
			w.clock.Now(), now, added.Name, added.Price, w.committed, *f.most)
	}
}

func (w *simulatedCluster) fickle() *fickle {
	for _, p := range w.policies {
		if f, ok := p.(*fickle); ok {
			return f
		}
	}
	return nil
}
