package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/decide"
	"spokeshave.dev/controller/explain"
	"spokeshave.dev/controller/journal"
	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/policy/load"
)

// page is what is shown.
type page struct {
	Time     string
	Leads    bool
	Rate     string
	Load     string
	Nodes    []node
	Caps     []decide.Headroom
	Policies []load.Status
	Journal  []decision
	Chart    chart
}

type node struct {
	Name, Pool, Type, Zone, Capacity, State string
	Cost                                    model.Price
	Pods                                    []string
}

type decision struct {
	ID, Time string
	Says     []string
	// Waiting are pods without a place, with their reasons.
	Waiting []waiting
}

type waiting struct {
	Pod     string
	Reasons []string
}

// chart is the curve as points of SVG polylines, 600 wide and 120 high.
type chart struct {
	Spend, Load, From, To, Top string
}

// shown bounds what a section lists; the command line has all of it.
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
	out.Chart = plot(curve)
	if n := len(curve); n > 0 {
		out.Rate, out.Load = curve[n-1].Spend.String(), curve[n-1].Load.String()
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
	out := make([]node, 0, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		each := node{
			Name: n.Name, Type: n.InstanceType, Zone: n.Zone, Capacity: string(n.CapacityType), State: string(n.State),
			Cost: max(n.Cost(), n.Reserved), Pods: pods[i],
		}
		if n.Pool >= 0 {
			each.Pool = s.Pools[n.Pool].Name
		}
		out = append(out, each)
	}
	slices.SortStableFunc(out, func(a, b node) int { return cmp.Compare(b.Cost, a.Cost) })
	return out
}

// decided is an entry in the words of explain.
func decided(e *journal.Entry) decision {
	out := decision{ID: e.ID, Time: e.Time.UTC().Format(time.RFC3339)}
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
		w := waiting{Pod: e.Unplaced[i].Pod}
		for _, r := range e.Unplaced[i].Reasons {
			w.Reasons = append(w.Reasons, r.Message)
		}
		out.Waiting = append(out.Waiting, w)
	}
	return out
}

func plot(curve []Point) chart {
	if len(curve) < 2 {
		return chart{}
	}
	first, last := curve[0].Time, curve[len(curve)-1].Time
	top := model.Price(1)
	for _, p := range curve {
		top = max(top, p.Spend)
	}
	var spent, asked strings.Builder
	for _, p := range curve {
		x := 600 * float64(p.Time.Sub(first)) / float64(last.Sub(first))
		y := func(v model.Price) float64 { return 118 - 114*float64(v)/float64(top) }
		fmt.Fprintf(&spent, "%.1f,%.1f ", x, y(p.Spend))
		fmt.Fprintf(&asked, "%.1f,%.1f ", x, y(p.Load))
	}
	return chart{Spend: spent.String(), Load: asked.String(), From: first.Format("15:04"), To: last.Format("15:04"), Top: top.String()}
}
