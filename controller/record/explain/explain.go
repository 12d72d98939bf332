// Package explain answers from the journal why a pod, a node or a NodePool is in its
// present state. It only reports what recorded decisions contain and evaluates nothing
// again.
package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/record/journal"
)

// Answer is what the journal contains about a subject, latest first.
type Answer struct {
	Subject string `json:"subject"`
	Facts   []Fact `json:"facts"`
}

// Fact is what one decision says about the subject.
type Fact struct {
	Decision string    `json:"decision"`
	Time     time.Time `json:"time"`
	// Says is one sentence. Details are further sentences.
	Says    string   `json:"says"`
	Details []string `json:"details,omitempty"`
	// Options are the chosen offering and the next best ones, when a node was launched.
	Options []model.Option `json:"options,omitempty"`
	// OtherTypes are the best offerings of instance types that are not among Options.
	OtherTypes []model.Option `json:"otherTypes,omitempty"`
	// Reasons are why a pod waits. Headroom is what is left under the caps of the
	// policies that Reasons name.
	Reasons  []model.Reason     `json:"reasons,omitempty"`
	Headroom []decide.CapStatus `json:"headroom,omitempty"`
	// Policies are the policies that were called: name, hash and hook.
	Policies []string `json:"policies,omitempty"`
}

// Pod explains where a pod, namespace/name, was planned or why it waits.
func Pod(entries []journal.Entry, key string) Answer {
	return gather("pod "+key, entries, func(e *journal.Entry) []Fact {
		var out []Fact
		for i := range e.Nodes {
			if n := &e.Nodes[i]; slices.Contains(n.Pods, key) {
				out = append(out, launched(e, n, "a node was launched for it: ", key))
			}
		}
		for i := range e.Existing {
			if x := &e.Existing[i]; slices.Contains(x.Pods, key) {
				out = append(out, Fact{Says: fmt.Sprintf("it was planned onto node %s, which had room: nothing was launched", x.Node)})
			}
		}
		for i := range e.Unplaced {
			if u := &e.Unplaced[i]; u.Pod == key {
				out = append(out, waits(u.Reasons, e))
			}
		}
		return out
	})
}

// Node explains why a node or NodeClaim exists, what is planned for it, and why it is
// kept or removed. names may be the name of the node or of its claim; the other one is
// found in the decisions on the node's disruption, if there are any.
func Node(entries []journal.Entry, names ...string) Answer {
	subject := "node " + strings.Join(names, ", ")
	names = named(entries, names)
	return gather(subject, entries, func(e *journal.Entry) []Fact {
		var out []Fact
		for i := range e.Nodes {
			if n := &e.Nodes[i]; slices.Contains(names, n.Claim) {
				out = append(out, launched(e, n, "it was launched: ", ""))
			}
		}
		for i := range e.Existing {
			if x := &e.Existing[i]; slices.Contains(names, x.Node) {
				out = append(out, Fact{Says: fmt.Sprintf("planned onto it: %s: %s", pods(len(x.Pods)), list(x.Pods))})
			}
		}
		for i := range e.Disruptions {
			if c := &e.Disruptions[i]; slices.Contains(names, c.Node) {
				f := judged(c)
				f.Time = c.Since
				out = append(out, f)
			}
		}
		for i := range e.Commands {
			out = append(out, commanded(e, &e.Commands[i], names)...)
		}
		return out
	})
}

// named adds the other names of nodes and claims: that of the claim for a node, that of
// the node for a claim.
func named(entries []journal.Entry, names []string) []string {
	out := slices.Clone(names)
	for i := range entries {
		for k := range entries[i].Disruptions {
			c := &entries[i].Disruptions[k]
			if c.Claim != "" && (slices.Contains(names, c.Node) || slices.Contains(names, c.Claim)) {
				out = append(out, c.Node, c.Claim)
			}
		}
	}
	return out
}

// Pool explains what was launched from a NodePool and why pods could not use it.
func Pool(entries []journal.Entry, name string) Answer {
	return gather("NodePool "+name, entries, func(e *journal.Entry) []Fact {
		var out []Fact
		for i := range e.Nodes {
			if n := &e.Nodes[i]; n.NodePool == name {
				out = append(out, launched(e, n, "node "+n.Claim+" was launched: ", ""))
			}
		}
		refused := map[string]int{}
		for i := range e.Unplaced {
			for _, r := range e.Unplaced[i].Reasons {
				if r.Pool == name {
					refused[r.Message]++
				}
			}
		}
		for _, message := range sorted(refused) {
			out = append(out, Fact{Says: fmt.Sprintf("%s could not use it: %s", pods(refused[message]), message)})
		}
		return out
	})
}

// gather collects the facts of every entry, latest first. It leaves out a fact that the
// decision after it repeats word for word.
func gather(subject string, entries []journal.Entry, ask func(*journal.Entry) []Fact) Answer {
	out := Answer{Subject: subject}
	for i := range slices.Backward(entries) {
		e := &entries[i]
		for _, f := range ask(e) {
			if f.Decision = e.ID; f.Time.IsZero() {
				f.Time = e.Time
			}
			if len(f.Options) > 0 {
				f.Policies = asked(e)
			}
			if n := len(out.Facts); n > 0 && out.Facts[n-1].Says == f.Says && slices.Equal(out.Facts[n-1].Details, f.Details) {
				out.Facts[n-1].Time, out.Facts[n-1].Decision = f.Time, f.Decision // the first time that it was so
				continue
			}
			out.Facts = append(out.Facts, f)
		}
	}
	return out
}
