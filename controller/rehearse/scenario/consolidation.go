package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/rehearse/wording"
)

// Consolidation is which running nodes a decision would remove or replace, and why it
// keeps the others. Prices are USD per hour.
type Consolidation struct {
	// Postponed says that no node was searched for cheaper places, because pods need new
	// nodes, which come first. Empty nodes are removed all the same.
	Postponed bool         `json:"postponed"`
	Moves     []ReportMove `json:"moves"`
	Kept      []ReportKept `json:"kept"`
	// Cost is that of all nodes that run now, and Savings how much less it becomes.
	Cost    float64 `json:"cost"`
	Savings float64 `json:"savings"`
}

// ReportMove is a removal of nodes that begins or goes on.
type ReportMove struct {
	// Method is Empty, Underutilized or Drifted.
	Method string `json:"method"`
	// Action is delete, or replace where nodes are launched first.
	Action string `json:"action"`
	// Stage is Start for a new move; Finish for one whose replacements are ready; Wait or
	// Undo for one under way.
	Stage string       `json:"stage"`
	Nodes []ReportNode `json:"nodes"`
	// Replacements are the nodes that would be launched.
	Replacements []ReportNode `json:"replacements"`
	Savings      float64      `json:"savings"`
	// Reason is why a move under way waits or is undone.
	Reason string `json:"reason,omitempty"`
}

// ReportKept is a node that stays.
type ReportKept struct {
	Node     string  `json:"node"`
	NodePool string  `json:"nodePool,omitempty"`
	Type     string  `json:"instanceType,omitempty"`
	Price    float64 `json:"price"`
	// Method is how it could have gone, empty when that was not looked at.
	Method string `json:"method,omitempty"`
	Policy string `json:"policy,omitempty"`
	Reason string `json:"reason"`
}

// Consolidate describes the part of the decision that is about running nodes. The
// decision has to be made with Options.Disrupt and Options.Explain.
func (r *Report) Consolidate(s *model.Snapshot, d *decide.Decision) {
	c := &Consolidation{Postponed: d.Postponed, Moves: []ReportMove{}, Kept: []ReportKept{}}
	r.Consolidation = c
	said := map[int32]bool{}
	var cost, saved model.Price
	for i := range s.Nodes {
		cost += s.Nodes[i].Cost()
	}
	for i := range d.Disruptions {
		each := &d.Disruptions[i]
		said[each.Node] = true
		if !each.Go {
			c.keep(s, each.Node, ReportKept{Method: string(each.Method), Policy: each.Policy, Reason: each.Reason})
			continue
		}
		price := s.Nodes[each.Node].Cost()
		saved += price
		c.Moves = append(c.Moves, ReportMove{
			Method: string(each.Method), Action: "delete", Stage: string(decide.Start), Nodes: running(s, []int32{each.Node}), Replacements: []ReportNode{}, Savings: price.USD(),
		})
	}
	for i := range d.Commands {
		each := &d.Commands[i]
		for _, n := range each.Nodes {
			said[n] = true
		}
		move := ReportMove{
			Method: string(each.Method), Action: "delete", Stage: string(each.Stage), Nodes: running(s, each.Nodes), Replacements: planned(s, each.Replacements), Reason: each.Reason,
		}
		if len(each.Replacements) > 0 {
			move.Action = "replace"
		}
		if each.Stage == decide.Start {
			move.Savings = each.Savings.USD()
			saved += each.Savings
		}
		c.Moves = append(c.Moves, move)
	}
	c.rest(s, said)
	c.Cost, c.Savings = cost.USD(), saved.USD()
	slices.SortStableFunc(c.Moves, func(a, b ReportMove) int { return cmp.Compare(b.Savings, a.Savings) })
	slices.SortStableFunc(c.Kept, func(a, b ReportKept) int { return cmp.Compare(a.Node, b.Node) })
}

// rest adds the nodes of which the decision says nothing.
func (c *Consolidation) rest(s *model.Snapshot, said map[int32]bool) {
	survey := disrupt.NewSurvey(s, nil)
	for i := range s.Nodes {
		if said[int32(i)] {
			continue
		}
		why := survey.Excused(int32(i))
		switch {
		case why != "":
		case c.Postponed:
			why = "not searched: pods need new nodes, which come first"
		default:
			why = "not searched in this decision"
		}
		c.keep(s, int32(i), ReportKept{Reason: why})
	}
}

func (c *Consolidation) keep(s *model.Snapshot, node int32, one ReportKept) {
	n := &s.Nodes[node]
	one.Node, one.Type, one.Price, one.NodePool = n.Name, n.InstanceType, n.Cost().USD(), poolName(s, n.Pool)
	c.Kept = append(c.Kept, one)
}

func poolName(s *model.Snapshot, pool int32) string {
	if pool < 0 {
		return ""
	}
	return s.Pools[pool].Name
}

// running describes nodes of the snapshot.
func running(s *model.Snapshot, nodes []int32) []ReportNode {
	on := map[int32][]string{}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node >= 0 && !p.Daemon {
			on[p.Node] = append(on[p.Node], p.Key())
		}
	}
	out := make([]ReportNode, 0, len(nodes))
	for _, i := range nodes {
		n := &s.Nodes[i]
		pods := on[i]
		if pods == nil {
			pods = []string{}
		}
		out = append(out, ReportNode{
			Name: n.Name, NodePool: poolName(s, n.Pool), InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: n.CapacityType,
			Price: n.Cost().USD(), EffectivePrice: n.Cost().USD(), HighestPrice: n.Cost().USD(), Pods: pods,
		})
	}
	return out
}

// planned describes nodes that would be launched as replacements.
func planned(s *model.Snapshot, nodes []model.PlannedNode) []ReportNode {
	out := []ReportNode{}
	for i := range nodes {
		n := &nodes[i]
		if len(n.Options) == 0 {
			continue
		}
		best := &n.Options[0]
		out = append(out, ReportNode{
			NodePool: s.Pools[n.Pool].Name, InstanceType: best.InstanceType, Zone: best.Zone, CapacityType: best.CapacityType,
			Price: best.Price.USD(), EffectivePrice: round(best.Effective), HighestPrice: n.Worst().USD(), Options: len(n.Options), Pods: []string{},
		})
	}
	return out
}

// consolidation prints the moves, and the nodes that stay by the reason why.
func (r *Report) consolidation(b *page) {
	c := r.Consolidation
	if c == nil {
		return
	}
	if len(c.Moves) > 0 {
		b.WriteString("\n")
		rows(b, func(row func(...any)) {
			row("ACTION", "METHOD", "NODES", "REPLACED BY", "SAVES $/HOUR")
			for i := range c.Moves {
				m := &c.Moves[i]
				action := m.Action
				if m.Stage != string(decide.Start) {
					action += " (" + m.Stage + ")"
				}
				row(action, m.Method, listed(m.Nodes), listed(m.Replacements), dollars(m.Savings))
			}
		})
	}
	if len(c.Kept) > 0 {
		b.WriteString("\n")
		rows(b, func(row func(...any)) {
			row("KEPT NODE", "NODEPOOL", "TYPE", "$/HOUR", "WHY")
			for i := range c.Kept {
				k := &c.Kept[i]
				why := k.Reason
				if k.Policy != "" {
					why = "policy " + k.Policy + ": " + why
				}
				row(k.Node, wording.Dash(k.NodePool), wording.Dash(k.Type), dollars(k.Price), why)
			}
		})
	}
}

// listed names nodes with their types, or the offerings of nodes that have no name yet.
func listed(nodes []ReportNode) string {
	var out []string
	for i := range nodes {
		n := &nodes[i]
		what := strings.TrimSpace(strings.Join([]string{n.InstanceType, n.Zone, string(n.CapacityType)}, " "))
		if n.Name != "" {
			what = n.Name + " (" + what + ")"
		}
		out = append(out, what)
	}
	return wording.Dash(strings.Join(out, ", "))
}

// outcome prints what the moves save in all.
func (c *Consolidation) outcome(b *page) {
	gone, launched := 0, 0
	for i := range c.Moves {
		if m := &c.Moves[i]; m.Stage == string(decide.Start) || m.Stage == string(decide.Finish) {
			gone += len(m.Nodes)
			launched += len(m.Replacements)
		}
	}
	fmt.Fprintf(&b.Builder, "consolidation: %s would go", wording.Plural(gone, "node"))
	if launched > 0 {
		fmt.Fprintf(&b.Builder, " for %s", wording.Plural(launched, "new node"))
	}
	fmt.Fprintf(&b.Builder, ", %s would stay; saves %s of %s $/hour\n", wording.Plural(len(c.Kept), "node"), dollars(c.Savings), dollars(c.Cost))
	if c.Postponed {
		b.WriteString("consolidation was not searched: pods need new nodes, which come first\n")
	}
}
