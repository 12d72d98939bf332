// Package web serves a read-only page about the controller: what each team spends, what
// changed and why, which pods wait and what would help, how full the nodes are, what the
// policies do, and what consolidation saves. The page changes nothing, loads nothing
// from other hosts, and works without scripts.
//
// Every view and every item has an address of its own: see address. The page is rendered
// from the latest decision's snapshot, the journal and the ledger, which do not change
// afterwards: no lock of the decision loop is held meanwhile.
//
// It knows no users: package endpoint of controller/kube serves it on the loopback
// address, or to whom the API server allows it.
package web

import (
	"sync"
	"sync/atomic"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

const (
	// every is the time between two points of the curve, points how many there are: one
	// day.
	every  = time.Minute
	points = 24 * 60
	// finishedKept is how many consolidations that were carried out are kept one by one.
	finishedKept = 100
)

// Point is the spend at a time, and the part of it that pods request.
type Point struct {
	Time        time.Time
	Spend, Load model.Price
}

// Board holds the data of the page. The zero value is ready.
type Board struct {
	// Observe is set in mode Observe, in which no decision is carried out.
	Observe bool

	mu       sync.Mutex
	snapshot *model.Snapshot
	decision *decide.Decision
	curve    []Point
	finished finished
	// summary is that of snapshot, nil until somebody reads the page. It is dropped with
	// the snapshot, so that no earlier one stays in memory.
	summary atomic.Pointer[summary]
}

// finished are the consolidations that were carried out since the controller leads.
type finished struct {
	since time.Time
	// Count and Savings are those of all, Last the latest of them, oldest first.
	Count   int
	Savings model.Price
	Last    []saving
	// seen are the commands and claims of Last, so that none counts twice.
	seen map[string]bool
}

// saving is one consolidation that was carried out.
type saving struct {
	key    string
	Time   time.Time
	Method string
	Nodes  []string
	// Savings is the hourly price of the nodes less that of their replacements.
	Savings model.Price
}

// Add records the latest decision and its snapshot. Neither may be changed afterwards.
func (b *Board) Add(s *model.Snapshot, d *decide.Decision) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.snapshot, b.decision = s, d
	b.summary.Store(nil)
	if b.finished.since.IsZero() {
		b.finished.since, b.finished.seen = s.Time.UTC(), map[string]bool{}
	}
	if !b.Observe {
		b.finished.add(s, d)
	}
	if n := len(b.curve); n > 0 && s.Time.Sub(b.curve[n-1].Time) < every {
		return
	}
	p := Point{Time: s.Time.UTC()}
	for _, use := range spend.Uses(s) {
		p.Spend += use.Price
		p.Load += use.Requested
	}
	b.curve = append(b.curve, p)
	b.curve = b.curve[max(0, len(b.curve)-points):]
}

// add counts what the decision carries out: empty nodes that are deleted, and commands
// whose nodes are.
func (f *finished) add(s *model.Snapshot, d *decide.Decision) {
	for i := range d.Disruptions {
		if e := &d.Disruptions[i]; e.Go && e.Method == decide.MethodEmpty {
			n := &s.Nodes[e.Node]
			f.count(saving{key: "claim " + n.Claim, Time: s.Time.UTC(), Method: string(e.Method), Nodes: []string{n.Name}, Savings: n.Cost()})
		}
	}
	for i := range d.Commands {
		c := &d.Commands[i]
		if c.Stage != decide.Finish || c.Method != decide.MethodEmpty && c.Method != decide.MethodUnderutilized {
			continue
		}
		each := saving{key: "command " + c.ID, Time: s.Time.UTC(), Method: string(c.Method), Savings: c.Savings}
		for _, n := range c.Nodes {
			each.Nodes = append(each.Nodes, s.Nodes[n].Name)
		}
		f.count(each)
	}
}

func (f *finished) count(each saving) {
	if f.seen[each.key] {
		return
	}
	f.seen[each.key] = true
	f.Count++
	f.Savings += each.Savings
	f.Last = append(f.Last, each)
	for len(f.Last) > finishedKept {
		delete(f.seen, f.Last[0].key)
		f.Last = f.Last[1:]
	}
}

// latest returns copies of what changes, and the snapshot and decision, which do not.
func (b *Board) latest() state {
	b.mu.Lock()
	defer b.mu.Unlock()
	done := b.finished
	done.Last, done.seen = append([]saving(nil), done.Last...), nil
	return state{Snapshot: b.snapshot, Decision: b.decision, Curve: append([]Point(nil), b.curve...), Finished: done, Observe: b.Observe}
}

// state is what the board knows at one time.
type state struct {
	Snapshot *model.Snapshot
	Decision *decide.Decision
	Curve    []Point
	Finished finished
	Observe  bool
}
