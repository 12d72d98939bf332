package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/journal"
	"spokeshave.dev/controller/model"
)

func launched(n *journal.Node, lead string) Fact {
	f := Fact{
		Says: fmt.Sprintf("%s%s (%s) in %s at %s $/h, for %d pods, from NodePool %s",
			lead, n.Best.InstanceType, n.Best.CapacityType, n.Best.Zone, n.Best.Price, len(n.Pods), n.NodePool),
		Options: append([]model.Option{n.Best}, n.Others...),
	}
	for _, r := range n.Remarks {
		f.Details = append(f.Details, fmt.Sprintf("policy %s says of its score: %s", r.Policy, r.Reason))
	}
	for _, o := range n.Others {
		if more := o.Effective - n.Best.Effective; more > 0 {
			f.Details = append(f.Details, fmt.Sprintf("%s (%s) in %s would have cost %.4f $/h more in effect", o.InstanceType, o.CapacityType, o.Zone, more))
		}
	}
	return f
}

func waits(reasons []model.Reason, e *journal.Entry) Fact {
	f := Fact{Says: "it waits: no node could be planned for it"}
	for _, r := range reasons {
		text := r.Message
		if r.Pool != "" {
			text = "NodePool " + r.Pool + ": " + text
		}
		f.Details = append(f.Details, text)
		for _, h := range e.Headroom {
			if r.Policy != "" && h.Policy == r.Policy {
				f.Details = append(f.Details, fmt.Sprintf("policy %s caps %s at %s, of which %s $/h were left", h.Policy, h.Scope, h.Cap, h.Left))
			}
		}
	}
	return f
}

func judged(c *journal.Candidate) Fact {
	switch {
	case c.Go:
		return Fact{Says: "it may go: " + c.Method}
	case c.Policy != "":
		return Fact{Says: fmt.Sprintf("it stays: policy %s says %q", c.Policy, c.Reason)}
	default:
		return Fact{Says: "it stays: " + c.Reason}
	}
}

// commanded is what a command means to the node of one of the names.
func commanded(c *journal.Command, names []string) []Fact {
	var out []Fact
	for i := range c.Replacements {
		if n := &c.Replacements[i]; slices.Contains(names, n.Claim) {
			out = append(out, launched(n, fmt.Sprintf("it was launched in the stead of %s (%s): ", list(c.Nodes), c.Method)))
		}
	}
	if !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(c.Nodes, n) }) {
		return out
	}
	f := Fact{Says: fmt.Sprintf("its disruption (%s) is at the step %s", c.Method, c.Stage)}
	if c.Reason != "" {
		f.Says += ": " + c.Reason
	}
	if c.Savings != 0 {
		f.Details = append(f.Details, fmt.Sprintf("together with its replacements this saves %s $/h over %d nodes", c.Savings, len(c.Nodes)))
	}
	for i := range c.Replacements {
		f.Details = append(f.Details, fmt.Sprintf("replaced by %s: %s (%s) in %s", c.Replacements[i].Claim,
			c.Replacements[i].Best.InstanceType, c.Replacements[i].Best.CapacityType, c.Replacements[i].Best.Zone))
	}
	return append(out, f)
}

func asked(e *journal.Entry) []string {
	var out []string
	for i := range e.Policies {
		out = append(out, fmt.Sprintf("%s (%s)", e.Policies[i].Name, e.Policies[i].Hook))
	}
	return out
}

func list(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func sorted(in map[string]int) []string { return slices.Sorted(maps.Keys(in)) }
