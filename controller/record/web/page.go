package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/record/explain"
	"spokeshave.dev/controller/record/journal"
)

// page is the data of the page.
type page struct {
	Time       string
	Leads      bool
	Rate, Load model.Price
	Nodes      []node
	Spot       int
	Caps       []decide.CapStatus
	// Waiting are the first pods that cannot be placed now; Waits is the number of all.
	Waiting  []waiting
	Waits    int
	Policies []policy.Status
	Journal  []decision
	Chart    chart
}

type node struct {
	Name, Pool, Type, Zone, Capacity, State string
	Cost                                    model.Price
	// Used is the part of the node's cost that pods request, in percent.
	Used int
	Pods []string
}

type decision struct {
	ID, Time string
	// Short summarizes the decision in a few words.
	Short string
	Says  []string
	// Waiting are pods without a place, with their reasons.
	Waiting []waiting
}

type waiting struct {
	Pod     string
	Reasons []string
}

// shown is how many items a section lists. The command line prints all.
const shown = 50

func (s *Server) page() page {
	snap, d, curve := s.Board.latest()
	out := page{Policies: s.Policies()}
	if snap == nil {
		return out
	}
	out.Leads, out.Time = true, snap.Time.UTC().Format(time.RFC3339)
	out.Caps = d.Headroom
	out.Nodes = nodes(snap)
	for i := range snap.Nodes {
		if snap.Nodes[i].CapacityType == model.Spot {
			out.Spot++
		}
	}
	out.Waits = len(d.Plan.Unplaced)
	for i := range d.Plan.Unplaced[:min(out.Waits, shown)] {
		u := &d.Plan.Unplaced[i]
		out.Waiting = append(out.Waiting, waits(snap.Pods[u.Pod].Key(), u.Reasons))
	}
	out.Chart = plot(curve, d.Headroom)
	if n := len(curve); n > 0 {
		out.Rate, out.Load = curve[n-1].Spend, curve[n-1].Load
	}
	entries := s.Journal()
	for i := range slices.Backward(entries) {
		if len(out.Journal) < shown {
			out.Journal = append(out.Journal, decided(&entries[i]))
		}
	}
	return out
}

func nodes(s *model.Snapshot) []node {
	pods := make([][]string, len(s.Nodes))
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node >= 0 && !p.Daemon {
			pods[p.Node] = append(pods[p.Node], p.Key())
		}
	}
	uses := spend.Uses(s)
	out := make([]node, 0, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		each := node{
			Name: n.Name, Type: n.InstanceType, Zone: n.Zone, Capacity: string(n.CapacityType), State: string(n.State),
			Cost: max(n.Cost(), n.Reserved), Pods: pods[i],
		}
		if uses[i].Price > 0 {
			each.Used = int(100 * uses[i].Requested / uses[i].Price)
		}
		if n.Pool >= 0 {
			each.Pool = s.Pools[n.Pool].Name
		}
		out = append(out, each)
	}
	slices.SortStableFunc(out, func(a, b node) int { return cmp.Compare(b.Cost, a.Cost) })
	return out
}

func waits(pod string, reasons []model.Reason) waiting {
	w := waiting{Pod: pod}
	for _, r := range reasons {
		w.Reasons = append(w.Reasons, r.Message)
	}
	return w
}

// decided describes an entry with the sentences of package explain.
func decided(e *journal.Entry) decision {
	out := decision{ID: e.ID, Time: e.Time.UTC().Format(time.RFC3339), Short: short(e)}
	for i := range e.Nodes {
		for _, f := range explain.Node([]journal.Entry{*e}, e.Nodes[i].Claim).Facts {
			out.Says = append(out.Says, e.Nodes[i].Claim+": "+f.Says)
		}
	}
	for i := range e.Existing {
		out.Says = append(out.Says, fmt.Sprintf("%s: %d pods were planned onto it", e.Existing[i].Node, len(e.Existing[i].Pods)))
	}
	for i := range e.Disruptions {
		if c := &e.Disruptions[i]; c.Go {
			out.Says = append(out.Says, c.Node+": it may go: "+c.Method)
		}
	}
	for i := range e.Commands {
		c := &e.Commands[i]
		out.Says = append(out.Says, strings.TrimSuffix(fmt.Sprintf("%s of %s: %s, saves %s $/h: %s", c.Method, strings.Join(c.Nodes, ", "), c.Stage, c.Savings, c.Reason), ": "))
	}
	for i := range e.Unplaced[:min(len(e.Unplaced), shown)] {
		out.Waiting = append(out.Waiting, waits(e.Unplaced[i].Pod, e.Unplaced[i].Reasons))
	}
	return out
}

// short summarizes a decision by counts.
func short(e *journal.Entry) string {
	pods, goes := 0, 0
	for i := range e.Existing {
		pods += len(e.Existing[i].Pods)
	}
	for i := range e.Disruptions {
		if e.Disruptions[i].Go {
			goes++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{len(e.Nodes), "launched"}, {pods, "pods placed on nodes there are"}, {goes, "may go"}, {len(e.Commands), "disruptions of several nodes"}, {len(e.Unplaced), "pods wait"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, ", ")
}
