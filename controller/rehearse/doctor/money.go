package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/controller/rehearse/wording"
)

// Money is what the nodes of NodePools cost, and would cost. Amounts are USD per hour
// unless they say otherwise.
type Money struct {
	// Nodes are the nodes of NodePools. Others, such as those of managed node groups,
	// are not counted, nor are their pods. InFlight are NodeClaims without a node yet,
	// which do not count either.
	Nodes    int `json:"nodes"`
	InFlight int `json:"inFlight"`
	// Cost is what they cost now.
	Cost float64 `json:"cost"`
	// Assumed are the nodes whose price nobody knows.
	Assumed []string `json:"assumedPrices,omitempty"`
	// Waiting are the pods that wait for a node, Launched the nodes that would be
	// launched for them, LaunchCost what those cost.
	Waiting    int     `json:"waitingPods"`
	Launched   int     `json:"launched"`
	LaunchCost float64 `json:"launchCost"`
	// Unplaced are the waiting pods for which nothing can be launched.
	Unplaced int `json:"unplaced"`
	// Step is the next step of consolidation.
	Step Step `json:"nextStep"`
	// Anew is what the same pods cost when all are placed at once on new nodes; nil where
	// the pods of a node have no place in such a plan.
	Anew *Anew `json:"anew,omitempty"`
	// Day is a replay of the last hours; nil when none was made.
	Day *Day `json:"day,omitempty"`
}

// Step is what the next decision would remove.
type Step struct {
	Removed  int     `json:"removed"`
	Launched int     `json:"launched"`
	Savings  float64 `json:"savings"`
	// Postponed says that no cheaper nodes were searched, because pods need new nodes,
	// which come first.
	Postponed bool `json:"postponed,omitempty"`
}

// Anew is a plan for all pods of the counted nodes, as if every pod could move at once.
type Anew struct {
	Nodes int     `json:"nodes"`
	Cost  float64 `json:"cost"`
	// Unplaced are the pods without a place in it. It costs nothing to leave pods out, so
	// that with any the two costs cannot be compared.
	Unplaced int `json:"unplaced"`
}

// CountConfig says what Count does.
type CountConfig struct {
	Options scenario.Options
	// Last is how many hours back pods are replayed, 0 for none.
	Last time.Duration
	// MostPods is the largest number of pods that are replayed; 0 for no bound.
	MostPods int
}

// Count computes what the nodes of a cluster cost, and would cost. It may be called only
// once, because pods of workloads are added to the objects.
func Count(ctx context.Context, c *Cluster, cfg CountConfig) (*Money, error) {
	o := c.Objects
	if len(o.NodePools) == 0 && o.Taken == nil {
		return nil, nil //nolint:nilnil // without NodePools there is nothing to count
	}
	s, err := o.Snapshot(cfg.Options)
	if err != nil {
		return nil, fmt.Errorf("make a snapshot: %w", err)
	}
	out := &Money{}
	out.now(&s)
	if err := out.step(ctx, &s); err != nil {
		return nil, err
	}
	if out.Nodes > 0 {
		if err := out.anew(ctx, &s); err != nil {
			return nil, err
		}
	}
	if cfg.Last > 0 && o.Taken == nil {
		if out.Day, err = replay(ctx, c, &s, &cfg); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// counts reports whether a node is one of a NodePool, and runs.
func counts(n *model.Node) bool {
	return n.Pool >= 0 && n.State != model.Unmanaged && n.State != model.InFlight
}

func (m *Money) now(s *model.Snapshot) {
	var cost model.Price
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Pool >= 0 && n.State == model.InFlight {
			m.InFlight++
		}
		if !counts(n) {
			continue
		}
		m.Nodes++
		cost += n.Cost()
		if n.PriceAssumed {
			m.Assumed = append(m.Assumed, n.Name)
		}
	}
	m.Cost = cost.USD()
}

// step decides as the controller would at its first look.
func (m *Money) step(ctx context.Context, s *model.Snapshot) error {
	d, err := decide.Decide(ctx, s, nil, decide.Options{Disrupt: true, Search: true})
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node < 0 && s.NeedsPlace(p) {
			m.Waiting++
		}
	}
	m.Launched, m.Unplaced = len(d.Plan.Nodes), len(d.Plan.Unplaced)
	m.LaunchCost = planCost(s, d.Plan.Nodes).USD()
	m.Step.Postponed = d.Postponed
	var saved model.Price
	for i := range d.Disruptions {
		if each := &d.Disruptions[i]; each.Go {
			m.Step.Removed++
			saved += s.Nodes[each.Node].Cost()
		}
	}
	for i := range d.Commands {
		if each := &d.Commands[i]; each.Stage == decide.Start {
			m.Step.Removed += len(each.Nodes)
			m.Step.Launched += len(each.Replacements)
			saved += each.Savings
		}
	}
	m.Step.Savings = saved.USD()
	return nil
}

func planCost(s *model.Snapshot, nodes []model.PlannedNode) model.Price {
	var out model.Price
	for i := range nodes {
		if n := &nodes[i]; len(n.Options) > 0 {
			out += n.Options[0].Price + s.NodeCost(n.Pool)
		}
	}
	return out
}

// anew plans the pods of the counted nodes as if they had none. Nodes of static NodePools
// stay: their number is fixed.
func (m *Money) anew(ctx context.Context, s *model.Snapshot) error {
	empty, kept := emptied(s)
	d, err := decide.Decide(ctx, &empty, nil, decide.Options{})
	if err != nil {
		return fmt.Errorf("decide about all pods anew: %w", err)
	}
	m.Anew = &Anew{Nodes: kept.nodes + len(d.Plan.Nodes), Cost: (kept.cost + planCost(&empty, d.Plan.Nodes)).USD(), Unplaced: len(d.Plan.Unplaced)}
	return nil
}

// keptNodes are counted nodes that stay in the plan anew.
type keptNodes struct {
	nodes int
	cost  model.Price
}

// emptied returns the snapshot without the nodes of NodePools that are not static. The
// pods of counted nodes wait, but for those that their nodes bring along; pods that waited
// before are left out, so that the costs can be compared. Limits count from none.
func emptied(s *model.Snapshot) (model.Snapshot, keptNodes) {
	out := *s
	var kept keptNodes
	out.Nodes, out.Pods, out.Moves, out.Departed, out.Budgets = nil, nil, nil, nil, nil
	out.Pools = slices.Clone(s.Pools)
	at := make([]int32, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Pool >= 0 && n.State != model.Unmanaged && s.Pools[n.Pool].Replicas == nil {
			at[i] = -1
			continue
		}
		if counts(n) {
			kept.nodes++
			kept.cost += n.Cost()
		}
		at[i] = int32(len(out.Nodes)) //nolint:gosec // there are no more nodes than in s
		out.Nodes = append(out.Nodes, *n)
	}
	for i := range out.Pools {
		if out.Pools[i].Replicas == nil {
			out.Pools[i].Usage = nil
		}
	}
	for i := range s.Pods {
		p := s.Pods[i]
		if p.Node < 0 {
			continue
		}
		runs := counts(&s.Nodes[p.Node])
		if p.Node = at[p.Node]; p.Node < 0 {
			if !runs || p.Daemon || p.Static() || p.Ending && !p.Returns() {
				continue
			}
			p.Final, p.Unevictable, p.Held = false, false, nil
		}
		out.Pods = append(out.Pods, p)
	}
	return out, kept
}

func moneyFindings(in *Input) []Finding {
	if in.MoneyError != nil {
		return []Finding{{Calculation, true, "cost", "not counted: " + in.MoneyError.Error(), "correct what the message names, and ask again"}}
	}
	m := in.Money
	if m == nil {
		return nil
	}
	var out []Finding
	if m.Unplaced > 0 {
		out = append(out, Finding{Calculation, false, wording.Plural(m.Unplaced, "pod"), "no node can be launched for waiting pods", "spokeshave simulate says why of each"})
	}
	if len(m.Assumed) > 0 {
		out = append(out, Finding{Calculation, false, names(slices.Clone(m.Assumed)), "no price is known: counted on the high side", "name a catalogue with --catalog"})
	}
	return out
}
