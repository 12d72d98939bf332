package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/record/journal"
)

// launched describes the launch of a node. pod is the pod that the question is about,
// "" for none.
func launched(e *journal.Entry, n *journal.Node, lead, pod string) Fact {
	f := Fact{
		Says: fmt.Sprintf("%s%s (%s) in %s at %s $/h, for %s, from NodePool %s",
			lead, n.Best.InstanceType, n.Best.CapacityType, n.Best.Zone, n.Best.Price, pods(len(n.Pods)), n.NodePool),
		Options: append([]model.Option{n.Best}, n.Others...), OtherTypes: n.OtherTypes,
	}
	f.Details = append(f.Details, considered(e, n.NodePool)...)
	for _, r := range n.Remarks {
		f.Details = append(f.Details, fmt.Sprintf("policy %s says of its score: %s", r.Policy, r.Reason))
	}
	for _, o := range slices.Concat(n.Others, n.OtherTypes) {
		f.Details = append(f.Details, fmt.Sprintf("%s (%s) in %s would have cost %s $/h%s", o.InstanceType, o.CapacityType, o.Zone, o.Price, difference(&n.Best, &o)))
	}
	f.Details = append(f.Details, notOn(n, pod)...)
	return f
}

// difference returns by how much an option costs more than the best one: in effective
// cost, or else in price.
func difference(best, o *model.Option) string {
	switch more := o.Effective - best.Effective; {
	case more >= 0.00005:
		return fmt.Sprintf(", %.4f $/h more in effect", more)
	case o.Price != best.Price:
		return ", the same in effect"
	}
	return ", as much as the one that was chosen"
}

// considered describes the offerings from which a NodePool's were chosen.
func considered(e *journal.Entry, pool string) []string {
	var out []string
	for i := range e.Candidates {
		c := &e.Candidates[i]
		if c.NodePool != pool {
			continue
		}
		out = append(out, fmt.Sprintf("of %d offerings that NodePool %s allows, the cheapest in effect that hold the pods and are to be had were kept", c.Asked, pool))
		for _, d := range c.Dropped {
			why := ""
			if d.Reason != "" {
				why = ": " + d.Reason
			}
			out = append(out, fmt.Sprintf("policy %s dropped %d of them, %s (%s) in %s among them%s", d.Policy, d.Count, d.Example.InstanceType, d.Example.CapacityType, d.Example.Zone, why))
		}
	}
	return out
}

// notOn returns why existing nodes did not take the pod, or any of the node's pods when
// pod is "".
func notOn(n *journal.Node, pod string) []string {
	var out []string
	for i := range n.NotOn {
		not := &n.NotOn[i]
		if pod != "" && !slices.ContainsFunc(not.Pods, func(k int) bool { return k < len(n.Pods) && n.Pods[k] == pod }) {
			continue
		}
		who := ""
		if pod == "" && len(n.NotOn) > 1 && len(not.Pods) > 0 && not.Pods[0] < len(n.Pods) {
			who = " for " + n.Pods[not.Pods[0]]
		}
		for _, r := range not.Refusals {
			out = append(out, fmt.Sprintf("not on %s%s: %s", count(r.Nodes, r.Example), who, r.Why))
		}
	}
	return out
}

// count describes a number of nodes with one name as an example.
func count(nodes int, example string) string {
	if nodes == 1 {
		return "node " + example
	}
	return fmt.Sprintf("%d nodes such as %s", nodes, example)
}

func pods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

func waits(reasons []model.Reason, e *journal.Entry) Fact {
	f := Fact{Says: "it waits: no node could be planned for it", Reasons: reasons}
	for _, r := range reasons {
		text := r.Message
		if r.Pool != "" {
			text = "NodePool " + r.Pool + ": " + text
		}
		f.Details = append(f.Details, text)
		for _, h := range e.Headroom {
			if r.Policy != "" && h.Policy == r.Policy && (r.Scope == "" || h.Scope == r.Scope) {
				if !slices.Contains(f.Headroom, h) {
					f.Headroom = append(f.Headroom, h)
				}
				f.Details = append(f.Details, fmt.Sprintf("policy %s caps %s at %s, of which %s $/h were left", h.Policy, h.Scope, h.Cap, h.Left))
			}
		}
		if text := Remedy(&r, e.Headroom); text != "" {
			f.Details = append(f.Details, "to change that: "+text)
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

// commanded returns what a command means for the node with one of the names.
func commanded(e *journal.Entry, c *journal.Command, names []string) []Fact {
	var out []Fact
	for i := range c.Replacements {
		if n := &c.Replacements[i]; slices.Contains(names, n.Claim) {
			out = append(out, launched(e, n, fmt.Sprintf("it was launched in the stead of %s (%s): ", list(c.Nodes), c.Method), ""))
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
		u := &e.Policies[i]
		out = append(out, fmt.Sprintf("%s %.12s (%s)", u.Name, u.Hash, u.Hook))
	}
	for _, s := range e.Suspended {
		out = append(out, fmt.Sprintf("%s not asked: suspended until %s", s.Name, s.Until.Format(time.RFC3339)))
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
