package contrast

import (
	"context"
	"fmt"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/tools/reference/oracle"
	"spokeshave.dev/tools/reference/raise"
)

// Commands are what each side does next with a cluster. Ours are all of one decision; the
// reference makes one at a time, and that one is nothing where Removed is empty.
type Commands struct {
	Ours   []Command `json:"ours"`
	Theirs []Command `json:"reference"`
	// Kept says of the nodes that stay why, by side: ours, and the reference's where it
	// publishes an event about it.
	Kept []KeptNode `json:"kept"`
}

// Command is a removal of nodes.
type Command struct {
	Method   string   `json:"method"`
	Removed  []string `json:"removed"`
	Launched []string `json:"launched,omitempty"`
	// Saves is in USD per hour.
	Saves float64 `json:"saves"`
	// Breaks is the rule that the reference's command breaks.
	Breaks string `json:"breaks,omitempty"`
}

// KeptNode is a node that stays.
type KeptNode struct {
	Node   string `json:"node"`
	Ours   string `json:"ours,omitempty"`
	Theirs string `json:"reference,omitempty"`
}

// Next is what each side does next with the cluster of the case.
func Next(ctx context.Context, c *Case) (*Commands, error) {
	d, err := decide.Decide(ctx, c.Snapshot, nil, decide.Options{Disrupt: true, Search: true, Explain: true})
	if err != nil {
		return nil, fmt.Errorf("decide: %w", err)
	}
	world := c.World
	if world == nil {
		world = raise.World(c.Snapshot)
	}
	r, err := oracle.Consolidate(ctx, world)
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	out := &Commands{Ours: ourCommands(c.Snapshot, &d), Theirs: []Command{}, Kept: []KeptNode{}}
	gone := map[string]bool{}
	if len(r.Removed) > 0 {
		one, err := theirCommand(c.Snapshot, r)
		if err != nil {
			return nil, err
		}
		out.Theirs = append(out.Theirs, one)
	}
	for _, list := range [][]Command{out.Ours, out.Theirs} {
		for i := range list {
			for _, name := range list[i].Removed {
				gone[name] = true
			}
		}
	}
	why := reasons(c.Snapshot, &d)
	for i := range c.Snapshot.Nodes {
		name := c.Snapshot.Nodes[i].Name
		if k := (KeptNode{Node: name, Ours: why[name], Theirs: r.Kept[name]}); !gone[name] || k.Ours != "" {
			out.Kept = append(out.Kept, k)
		}
	}
	return out, nil
}

// reasons are why the decision keeps nodes, by their names.
func reasons(s *model.Snapshot, d *decide.Decision) map[string]string {
	out := map[string]string{}
	for i := range d.Disruptions {
		if each := &d.Disruptions[i]; !each.Go {
			out[s.Nodes[each.Node].Name] = each.Reason
		}
	}
	return out
}

func ourCommands(s *model.Snapshot, d *decide.Decision) []Command {
	out := []Command{}
	for i := range d.Disruptions {
		if each := &d.Disruptions[i]; each.Go {
			n := &s.Nodes[each.Node]
			out = append(out, Command{Method: string(each.Method), Removed: []string{n.Name}, Saves: n.Cost().USD()})
		}
	}
	for i := range d.Commands {
		each := &d.Commands[i]
		c := Command{Method: string(each.Method), Launched: offerings(each.Replacements), Saves: each.Savings.USD()}
		for _, n := range each.Nodes {
			c.Removed = append(c.Removed, s.Nodes[n].Name)
		}
		out = append(out, c)
	}
	return out
}

func theirCommand(s *model.Snapshot, r *oracle.Round) (Command, error) {
	ch, wrong, err := proved(s, r)
	if err != nil {
		return Command{}, err
	}
	return Command{
		Method: r.Method, Removed: r.Removed, Launched: offerings(ch.launched), Saves: (cost(s) - cost(ch.apply(s, 1))).USD(), Breaks: wrong,
	}, nil
}

// offerings names each planned node by its first option.
func offerings(nodes []model.PlannedNode) []string {
	var out []string
	for i := range nodes {
		o := &nodes[i].Options[0]
		out = append(out, offering(o.InstanceType, o.Zone, o.CapacityType))
	}
	return out
}
