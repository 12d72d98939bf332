package scenario

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// ReportDisruption is the result for a running node that was considered for disruption.
type ReportDisruption struct {
	Node     string `json:"node"`
	NodePool string `json:"nodePool"`
	// Method is Empty, Underutilized or Drifted.
	Method string `json:"method"`
	// Goes says that the node would be removed. Otherwise Policy and Reason say what
	// keeps it.
	Goes   bool   `json:"goes"`
	Policy string `json:"policy,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// disruptions adds which nodes would be removed, what would replace them, and what that
// saves.
func (r *Report) disruptions(s *model.Snapshot, d *decide.Decision) {
	add := func(node int32, one ReportDisruption) {
		n := &s.Nodes[node]
		one.Node = n.Name
		if n.Pool >= 0 {
			one.NodePool = s.Pools[n.Pool].Name
		}
		r.Disruptions = append(r.Disruptions, one)
	}
	var saved model.Price
	for i := range d.Disruptions {
		each := &d.Disruptions[i]
		add(each.Node, ReportDisruption{Method: string(each.Method), Goes: each.Go, Policy: each.Policy, Reason: each.Reason})
		if each.Go {
			saved += s.Nodes[each.Node].Cost()
		}
	}
	for i := range d.Commands {
		c := &d.Commands[i]
		goes := c.Stage == decide.Start || c.Stage == decide.Finish
		for _, node := range c.Nodes {
			add(node, ReportDisruption{Method: string(c.Method), Goes: goes, Reason: c.Reason})
		}
		if c.Stage != decide.Start {
			continue
		}
		saved += c.Savings
		r.Replacements = append(r.Replacements, planned(s, c.Replacements)...)
	}
	r.Savings = saved.USD()
	slices.SortStableFunc(r.Disruptions, func(a, b ReportDisruption) int { return cmp.Compare(a.Node, b.Node) })
}
