// Package web serves a read-only page about the controller: spend compared with the
// resources that pods request, nodes with their pods and cost, policies and their
// state, and the latest decisions with their explanations. The page changes nothing,
// loads nothing from other hosts, and works without scripts.
//
// It knows no users: package endpoint of controller/kube serves it on the loopback
// address, or to whom the API server allows it.
package web

import (
	"sync"
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
)

// Point is the spend at a time, and the part of it that pods request.
type Point struct {
	Time        time.Time
	Spend, Load model.Price
}

// Board holds the data of the page. The zero value is ready.
type Board struct {
	mu       sync.Mutex
	snapshot *model.Snapshot
	decision *decide.Decision
	curve    []Point
}

// Add records the latest decision and its snapshot. Neither may be changed afterwards.
func (b *Board) Add(s *model.Snapshot, d *decide.Decision) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.snapshot, b.decision = s, d
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

func (b *Board) latest() (*model.Snapshot, *decide.Decision, []Point) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.snapshot, b.decision, append([]Point(nil), b.curve...)
}
