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

// finished are the consolidations that were carried out since the controller leads. The
// ledger has their sums by day.
type finished struct {
	// Last are the latest of them, oldest first.
	Last []saving
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
	if b.finished.seen == nil {
		b.finished.seen = map[string]bool{}
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

// add lists what the decision carries out.
func (f *finished) add(s *model.Snapshot, d *decide.Decision) {
	for _, c := range d.Consolidations(s) {
		if f.seen[c.Key] {
			continue
		}
		f.seen[c.Key] = true
		each := saving{key: c.Key, Time: s.Time.UTC(), Method: string(c.Method), Savings: c.Savings}
		for _, n := range c.Nodes {
			each.Nodes = append(each.Nodes, s.Nodes[n].Name)
		}
		f.Last = append(f.Last, each)
	}
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
