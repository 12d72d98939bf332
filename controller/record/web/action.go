package web

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/record/journal"
)

// The kinds of actions.
const (
	launches     = "launch"
	placements   = "place"
	removals     = "remove"
	replacements = "consolidate"
	waits        = "wait"
	kept         = "keep"
	warnings     = "warn"
)

// kinds are the kinds of actions with their labels, for the filter.
func kinds() [][2]string {
	return [][2]string{
		{launches, "Launches"},
		{placements, "Pods placed on existing nodes"},
		{removals, "Nodes removed"},
		{replacements, "Nodes disrupted together or replaced"},
		{waits, "Pods that wait"},
		{kept, "Nodes kept, and why"},
		{warnings, "Warnings"},
	}
}

// badge is the word for a kind beside an action.
func badge(kind string) string {
	switch kind {
	case launches:
		return "launched"
	case placements:
		return "placed"
	case removals:
		return "removed"
	case replacements:
		return "disrupted"
	case waits:
		return "waits"
	case kept:
		return "kept"
	default:
		return "warning"
	}
}

// action is one thing that a decision did or said.
type action struct {
	kind string
	// view and name are the item that it is about, "" for none.
	view, name string
	text       string
	pool       string
	nodes      []string
	pods       []string
	// claim is the claim of a launch, which package explain knows more about.
	claim string
}

// actions returns what a decision did, in the order of their weight.
func actions(e *journal.Entry) iter.Seq[action] {
	return func(yield func(action) bool) {
		for _, part := range []func(*journal.Entry, func(action) bool) bool{launched, disrupted, removed, waited, placed, warned, keptNodes} {
			if !part(e, yield) {
				return
			}
		}
	}
}

func launched(e *journal.Entry, yield func(action) bool) bool {
	for i := range e.Nodes {
		n := &e.Nodes[i]
		text := fmt.Sprintf("%s in NodePool %s, for %s", offering(&n.Best), n.NodePool, few(n.Pods))
		if !yield(action{kind: launches, view: "node", name: n.Claim, text: text, pool: n.NodePool, nodes: []string{n.Claim}, pods: n.Pods, claim: n.Claim}) {
			return false
		}
	}
	return true
}

func offering(o *model.Option) string {
	return fmt.Sprintf("%s (%s) in %s at %s $/h", o.InstanceType, o.CapacityType, o.Zone, rate(o.Price.USD()))
}

// few lists the first names.
func few(names []string) string {
	const most = 3
	out := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

func disrupted(e *journal.Entry, yield func(action) bool) bool {
	for i := range e.Commands {
		c := &e.Commands[i]
		a := action{kind: replacements, nodes: slices.Clone(c.Nodes)}
		if len(c.Nodes) > 0 {
			a.view, a.name = "node", c.Nodes[0]
		}
		if len(c.Nodes) > 1 {
			a.text = "and " + few(c.Nodes[1:]) + ": "
		}
		a.text += fmt.Sprintf("%s, %s, saves %s $/h", c.Method, step(c.Stage), rate(c.Savings.USD()))
		for k := range c.Replacements {
			r := &c.Replacements[k]
			a.text += "; launches " + offering(&r.Best)
			a.nodes, a.pods, a.pool, a.claim = append(a.nodes, r.Claim), append(a.pods, r.Pods...), r.NodePool, r.Claim
		}
		if c.Reason != "" {
			a.text += ": " + c.Reason
		}
		if !yield(a) {
			return false
		}
	}
	return true
}

// step is the stage of a disruption in words.
func step(stage string) string {
	switch stage {
	case "Start":
		return "begins"
	case "Wait":
		return "waits for its replacements"
	case "Finish":
		return "ends, its nodes are deleted"
	case "Undo":
		return "is taken back"
	default:
		return stage
	}
}

func removed(e *journal.Entry, yield func(action) bool) bool {
	for i := range e.Disruptions {
		c := &e.Disruptions[i]
		if c.Go && !yield(action{kind: removals, view: "node", name: c.Node, text: c.Method, nodes: []string{c.Node, c.Claim}}) {
			return false
		}
	}
	return true
}

func keptNodes(e *journal.Entry, yield func(action) bool) bool {
	for i := range e.Disruptions {
		c := &e.Disruptions[i]
		text := c.Reason
		if c.Policy != "" {
			text = "policy " + c.Policy + " says: " + c.Reason
		}
		if !c.Go && !yield(action{kind: kept, view: "node", name: c.Node, text: text, nodes: []string{c.Node, c.Claim}}) {
			return false
		}
	}
	return true
}

// waited groups the pods that wait by their first reason.
func waited(e *journal.Entry, yield func(action) bool) bool {
	at, all := map[string]int{}, []action{}
	for i := range e.Unplaced {
		u := &e.Unplaced[i]
		a := action{kind: waits, view: "pod", name: u.Pod, text: "no node could be planned"}
		if len(u.Reasons) > 0 {
			a.text, a.pool = u.Reasons[0].Message, u.Reasons[0].Pool
		}
		k, known := at[a.pool+"\n"+a.text]
		if !known {
			k = len(all)
			at[a.pool+"\n"+a.text] = k
			all = append(all, a)
		}
		all[k].pods = append(all[k].pods, u.Pod)
	}
	for i := range all {
		if more := len(all[i].pods) - 1; more > 0 {
			all[i].text = fmt.Sprintf("and %s: %s", several(more, "other pod"), all[i].text)
		}
		if !yield(all[i]) {
			return false
		}
	}
	return true
}

func placed(e *journal.Entry, yield func(action) bool) bool {
	for i := range e.Existing {
		x := &e.Existing[i]
		if !yield(action{kind: placements, view: "node", name: x.Node, text: several(len(x.Pods), "pod") + ": " + few(x.Pods), nodes: []string{x.Node}, pods: x.Pods}) {
			return false
		}
	}
	return true
}

func warned(e *journal.Entry, yield func(action) bool) bool {
	for _, w := range e.Warnings {
		if !yield(action{kind: warnings, text: w}) {
			return false
		}
	}
	return true
}

// filtered reports whether the address narrows the list of decisions.
func (a *address) filtered() bool {
	return a.Query != "" || a.Pod != "" || a.Node != "" || a.Pool != "" || a.Kind != ""
}

// shows reports whether the address lets an action through. wanted is its text in lower
// case. Without a filter everything but nodes that stay is shown.
func (a *address) shows(x *action, wanted string) bool {
	contains := func(part string) func(string) bool {
		return func(s string) bool { return strings.Contains(s, part) }
	}
	switch {
	case a.Kind != "" && x.kind != a.Kind, a.Kind == "" && x.kind == kept && a.Node == "" && wanted == "":
		return false
	case a.Pool != "" && x.pool != a.Pool:
		return false
	case a.Pod != "" && !slices.ContainsFunc(x.pods, contains(a.Pod)):
		return false
	case a.Node != "" && !slices.ContainsFunc(x.nodes, contains(a.Node)):
		return false
	}
	found := func(s string) bool { return has(s, wanted) }
	return found(x.text) || found(x.name) || slices.ContainsFunc(x.pods, found) || slices.ContainsFunc(x.nodes, found)
}
