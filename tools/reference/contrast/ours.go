package contrast

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/tools/reference/oracle"
	"spokeshave.dev/tools/reference/raise"
)

// state is a cluster after some rounds.
type state struct {
	at     *model.Snapshot
	rounds int
	// kept says by node why the last round that looked at it kept it.
	kept map[string]string
}

// ours is our consolidation of a cluster.
type ours struct {
	state

	name  string
	wrong []Difference
}

func (x *ours) run(ctx context.Context, c *Case) error {
	x.at = c.Snapshot
	world := c.World
	for idle := 0; idle < idleRounds && x.rounds < mostRounds && len(x.wrong) == 0; {
		now := *x.at
		now.Seed += uint64(10 * idle)
		d, err := decide.Decide(ctx, &now, nil, decide.Options{Disrupt: true, Search: true, Explain: true})
		if err != nil {
			return fmt.Errorf("decide: %w", err)
		}
		ch := x.changeOf(&d)
		if ch.nothing() {
			idle++
			continue
		}
		idle = 0
		if world == nil {
			world = raise.World(x.at)
		}
		if err := x.forbidden(ctx, world, &d); err != nil {
			return err
		}
		x.rounds++
		if err := x.place(ctx, ch.apply(x.at, x.rounds)); err != nil {
			return err
		}
		world = nil
	}
	return nil
}

// changeOf is what the decision removes and launches.
func (x *ours) changeOf(d *decide.Decision) *change {
	out := &change{}
	for i := range d.Disruptions {
		if each := &d.Disruptions[i]; each.Go {
			out.gone = append(out.gone, each.Node)
		}
	}
	maps.Copy(x.kept, reasons(x.at, d))
	for i := range d.Commands {
		out.gone = append(out.gone, d.Commands[i].Nodes...)
		out.launched = append(out.launched, d.Commands[i].Replacements...)
	}
	return out
}

// place takes the cluster after a change, in which pods may wait, and plans them: all must
// find a place, without another node.
func (x *ours) place(ctx context.Context, s *model.Snapshot) error {
	d, err := decide.Decide(ctx, s, nil, decide.Options{})
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	switch {
	case len(d.Plan.Unplaced) > 0:
		u := &d.Plan.Unplaced[0]
		x.wrong = append(x.wrong, Difference{Stranded, fmt.Sprintf("round %d: %d pods, among them %s: %s", x.rounds, len(d.Plan.Unplaced), s.Pods[u.Pod].Key(), u.Reasons[0].Message)})
	case len(d.Plan.Nodes) > 0:
		x.wrong = append(x.wrong, Difference{Stranded, fmt.Sprintf("round %d: %d nodes more are launched", x.rounds, len(d.Plan.Nodes))})
	}
	x.at = (&change{existing: d.Plan.Existing, launched: d.Plan.Nodes}).apply(s, 1000+x.rounds)
	return nil
}

// forbidden holds the decision's removals against what the reference's rules let go.
func (x *ours) forbidden(ctx context.Context, w *oracle.World, d *decide.Decision) error {
	may, err := oracle.MayGo(ctx, w)
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	count := map[string]int{}
	check := func(node int32, allowed []string, left map[string]int) {
		n := &x.at.Nodes[node]
		pool := x.at.Pools[n.Pool].Name
		count[pool]++
		switch {
		case !slices.Contains(allowed, n.Name):
			x.wrong = append(x.wrong, Difference{Forbidden, fmt.Sprintf("round %d: node %s may not go", x.rounds+1, n.Name)})
		case count[pool] > left[pool]:
			x.wrong = append(x.wrong, Difference{Forbidden, fmt.Sprintf("round %d: node %s is more than the budget of NodePool %s", x.rounds+1, n.Name, pool)})
		}
	}
	for i := range d.Disruptions {
		if each := &d.Disruptions[i]; each.Go {
			check(each.Node, may.Empty, may.AllowedEmpty)
		}
	}
	for i := range d.Commands {
		for _, n := range d.Commands[i].Nodes {
			check(n, may.Underutilized, may.AllowedUnderutilized)
		}
	}
	return nil
}

// left is what the reference would remove of the cluster that our rounds left, if that
// breaks no rule.
func (x *ours) left(ctx context.Context, c *Case) ([]Difference, error) {
	world := c.World
	if world == nil || x.rounds > 0 {
		world = raise.World(x.at)
	}
	r, err := oracle.Consolidate(ctx, world)
	if err != nil || len(r.Removed) == 0 {
		return nil, err
	}
	ch, wrong, err := proved(x.at, r)
	if err != nil || wrong != "" {
		return nil, err
	}
	kind, why := Kept, []string{}
	for _, name := range r.Removed {
		why = append(why, name+": "+x.kept[name])
		if x.kept[name] == disrupt.ReasonUncertain {
			kind = Uncertain
		}
	}
	saved := (cost(x.at) - cost(ch.apply(x.at, x.rounds+1))).USD()
	return []Difference{{kind, fmt.Sprintf("%.4f USD/hour more by %s of %s", saved, r.Method, strings.Join(why, "; "))}}, nil
}
