package journal

import (
	"slices"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

func entry(s *model.Snapshot, d *decide.Decision) Entry {
	e := Entry{
		Version: Version, ID: d.ID, Time: d.Time, Headroom: d.Headroom, Warnings: d.Warnings, Policies: d.Policies, Suspended: d.Suspended,
		HourlyCost: HourlyCost(s, d),
		SolveMs:    float64(d.Timing.Solve.Microseconds()) / 1000, TotalMs: float64(d.Timing.Total.Microseconds()) / 1000,
	}
	for i := range s.Pods {
		if s.NeedsPlace(&s.Pods[i]) {
			e.Pods++
		}
	}
	e.Strategies = len(d.Stats.Trials)
	for i := range d.Stats.Trials {
		if t := &d.Stats.Trials[i]; t.Won {
			e.Strategy = t.Strategy
			break // a second one is of the rest of a large cluster
		}
	}
	for i := range d.Plan.Nodes {
		e.Nodes = append(e.Nodes, node(s, d, &d.Plan.Nodes[i], i))
	}
	for i := range d.Plan.Existing {
		x := &d.Plan.Existing[i]
		e.Existing = append(e.Existing, Placed{Node: s.Nodes[x.Node].Name, Pods: keys(s, x.Pods)})
	}
	for i := range d.Plan.Unplaced {
		u := &d.Plan.Unplaced[i]
		e.Unplaced = append(e.Unplaced, Waiting{Pod: s.Pods[u.Pod].Key(), Reasons: u.Reasons})
	}
	for i := range d.Disruptions {
		c := &d.Disruptions[i]
		e.Disruptions = append(e.Disruptions, Candidate{Node: s.Nodes[c.Node].Name, Claim: s.Nodes[c.Node].Claim, Method: string(c.Method), Go: c.Go, Policy: c.Policy, Reason: c.Reason})
	}
	e.Commands = commands(s, d)
	return e
}

// commands returns the commands of the decision. The claims of their replacements are
// numbered after those of the plan.
func commands(s *model.Snapshot, d *decide.Decision) []Command {
	var out []Command
	at := len(d.Plan.Nodes)
	for i := range d.Commands {
		c := &d.Commands[i]
		cmd := Command{Method: string(c.Method), Stage: string(c.Stage), Savings: c.Savings, Reason: c.Reason}
		for _, n := range c.Nodes {
			cmd.Nodes = append(cmd.Nodes, s.Nodes[n].Name)
		}
		if c.Stage == decide.Start {
			for k := range c.Replacements {
				cmd.Replacements = append(cmd.Replacements, node(s, d, &c.Replacements[k], at))
				at++
			}
		}
		out = append(out, cmd)
	}
	return out
}

func node(s *model.Snapshot, d *decide.Decision, n *model.PlannedNode, at int) Node {
	pool := s.Pools[n.Pool].Name
	return Node{
		Claim: model.ClaimName(pool, d.ID, at), NodePool: pool, Pods: keys(s, n.Pods),
		Best: n.Options[0], Others: slices.Clone(n.Options[1:min(len(n.Options), 1+alternatives)]),
		Remarks: remarks(d, n),
	}
}

// remarks returns what rank policies noted about the score of a node's best option.
func remarks(d *decide.Decision, n *model.PlannedNode) []policy.Remark {
	for i := range d.Ranked {
		r := &d.Ranked[i]
		if r.Pool != n.Pool || len(r.Outcome.Remarks) == 0 {
			continue
		}
		o := &n.Options[0]
		if at := slices.IndexFunc(r.Rows, func(row policy.RankRow) bool {
			return row.InstanceType == o.InstanceType && row.Zone == o.Zone && row.CapacityType == o.CapacityType
		}); at >= 0 {
			return r.Outcome.Remarks[at]
		}
	}
	return nil
}

func keys(s *model.Snapshot, pods []int32) []string {
	out := make([]string, 0, len(pods))
	for _, p := range pods {
		out = append(out, s.Pods[p].Key())
	}
	return out
}
