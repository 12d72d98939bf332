// Package web is a read-only page about what the controller does: spend against
// the load that asks for it, nodes with their pods and cost, policies and their
// state, the latest decisions with their explanations. It changes nothing, loads
// nothing from elsewhere, and works without scripts.
//
// Not here: who may see it. It listens on the loopback address unless told
// otherwise, and knows no users.
package web

import (
	"sync"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

const (
	// every is how far two points of the curve are apart, points how many there
	// are: a day.
	every  = time.Minute
	points = 24 * 60
)

// Point is the spend at a time, and the part of it that pods ask for.
type Point struct {
	Time        time.Time
	Spend, Load model.Price
}

// Board holds what the page shows. The zero value is ready.
type Board struct {
	mu       sync.Mutex
	snapshot *model.Snapshot
	decision *decide.Decision
	curve    []Point
}

// Add takes in the latest decision. Neither is changed afterwards.
func (b *Board) Add(s *model.Snapshot, d *decide.Decision) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.snapshot, b.decision = s, d
	if n := len(b.curve); n > 0 && s.Time.Sub(b.curve[n-1].Time) < every {
		return
	}
	p := Point{Time: s.Time.UTC()}
	for _, shares := range spend.Shares(s) {
		for _, share := range shares {
			p.Spend += share.Price
			if share.Kind != spend.Idle {
				p.Load += share.Price
			}
		}
	}
	b.curve = append(b.curve, p)
	b.curve = b.curve[max(0, len(b.curve)-points):]
}

func (b *Board) latest() (*model.Snapshot, *decide.Decision, []Point) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.snapshot, b.decision, append([]Point(nil), b.curve...)
}
