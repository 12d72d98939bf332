// Package observe compares what a controller in mode Observe would have done
// with what really ran: beside Karpenter or any other autoscaler it adds up, hour
// by hour, what the nodes cost, what they would have cost without those that it
// would have removed or replaced, and what was launched on both sides.
//
// The comparison is a floor. What it would have done is not done, so that each
// look counts only the next step of a consolidation, never those after it. A pod
// that waits through several decisions counts once.
//
// Not here: what has been spent by a controller that acts (controller/core/spend).
package observe

import (
	"slices"
	"sync"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

const (
	// keep is how many hours are kept: a month.
	keep = 31 * 24
	// gap is how far two looks may be apart for the time between them to count.
	gap = 10 * time.Minute
)

// Side is one side of the comparison: what really happened, or what would have.
type Side struct {
	// Cost is what the nodes cost, or would have.
	Cost spend.Amount `json:"cost"`
	// Launched nodes, and what they cost per hour together.
	Launched int         `json:"launched"`
	Price    model.Price `json:"launchedPrice"`
	// Removed nodes: gone, or that would have been removed or replaced.
	Removed int `json:"removed"`
}

// Hour is what was seen within an hour, UTC.
type Hour struct {
	Start time.Time `json:"start"`
	// Seconds is how much of it was seen.
	Seconds int64 `json:"seconds"`
	Really  Side  `json:"really"`
	Would   Side  `json:"would"`
}

// Now is how things stood at the last look.
type Now struct {
	Time time.Time `json:"time"`
	// Rate is what runs per hour, Saves what the next step would take off it.
	Rate  model.Price `json:"rate"`
	Saves model.Price `json:"saves"`
	// Launch counts nodes for the pods that wait, Remove those that could go.
	Launch int `json:"launch"`
	Remove int `json:"remove"`
	// Waiting are pods for which neither side has a place.
	Waiting int `json:"waiting"`
}

// Observer adds up. The zero value is ready; it may be used by several
// goroutines.
type Observer struct {
	mu    sync.Mutex
	hours []Hour
	now   Now
	// nodes are those there at the last look, by name.
	nodes map[string]bool
	// planned are the waiting pods that were counted, by UID, and going the
	// nodes that would have been removed.
	planned, going map[string]bool
}

// Add takes in a decision that is not applied.
func (o *Observer) Add(s *model.Snapshot, d *decide.Decision) {
	o.mu.Lock()
	defer o.mu.Unlock()
	hour := o.hour(s.Time)
	if elapsed := s.Time.Sub(o.now.Time); !o.now.Time.IsZero() && elapsed > 0 && elapsed <= gap {
		hour.Seconds += int64(elapsed / time.Second)
		hour.Really.Cost.Accrue(o.now.Rate, elapsed)
		hour.Would.Cost.Accrue(o.now.Rate-o.now.Saves, elapsed)
	}
	o.now = Now{Time: s.Time.UTC(), Waiting: len(d.Plan.Unplaced)}
	o.really(hour, s)
	o.launch(hour, s, d)
	o.remove(hour, s, d)
}

// hour is the one that a time falls into; the oldest makes room.
func (o *Observer) hour(at time.Time) *Hour {
	start := at.UTC().Truncate(time.Hour)
	if n := len(o.hours); n == 0 || o.hours[n-1].Start.Before(start) {
		o.hours = append(o.hours, Hour{Start: start})
		o.hours = o.hours[max(0, len(o.hours)-keep):]
	}
	return &o.hours[len(o.hours)-1]
}

// really counts what is there, and what came and went since the last look.
func (o *Observer) really(hour *Hour, s *model.Snapshot) {
	there := map[string]bool{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		price := cost(s, n)
		o.now.Rate += price
		there[n.Name] = true
		if o.nodes != nil && !o.nodes[n.Name] {
			hour.Really.Launched++
			hour.Really.Price += price
		}
	}
	for name := range o.nodes {
		if !there[name] {
			hour.Really.Removed++
		}
	}
	o.nodes = there
}

// cost is what a node costs: another autoscaler's has no claim, and costs what
// the catalogue asks for its type.
func cost(s *model.Snapshot, n *model.Node) model.Price {
	if c := n.Cost(); c > 0 || n.State == model.InFlight {
		return max(c, n.Reserved)
	}
	for c := range s.Catalogs {
		types := s.Catalogs[c].Types
		at := slices.IndexFunc(types, func(t model.InstanceType) bool { return t.Name == n.InstanceType })
		if at < 0 {
			continue
		}
		for _, of := range types[at].Offerings {
			if of.Zone == n.Zone && (of.CapacityType == n.CapacityType || n.CapacityType == "" && of.CapacityType == model.OnDemand) {
				return of.Price + s.Catalogs[c].NodeCost
			}
		}
	}
	return 0
}

// launch counts the nodes for pods that were not counted before.
func (o *Observer) launch(hour *Hour, s *model.Snapshot, d *decide.Decision) {
	o.now.Launch = len(d.Plan.Nodes)
	waiting := map[string]bool{}
	for i := range d.Plan.Nodes {
		n := &d.Plan.Nodes[i]
		fresh := false
		for _, p := range n.Pods {
			uid := s.Pods[p].UID
			fresh = fresh || !o.planned[uid]
			waiting[uid] = true
		}
		if fresh {
			hour.Would.Launched++
			hour.Would.Price += n.Options[0].Price + s.NodeCost(n.Pool)
		}
	}
	o.planned = waiting
}

// remove counts the nodes that would go and were not counted before.
func (o *Observer) remove(hour *Hour, s *model.Snapshot, d *decide.Decision) {
	going := map[string]bool{}
	for i := range d.Disruptions {
		if each := &d.Disruptions[i]; each.Go {
			going[s.Nodes[each.Node].Name] = true
			o.now.Saves += cost(s, &s.Nodes[each.Node])
		}
	}
	for i := range d.Commands {
		c := &d.Commands[i]
		if c.Stage != decide.Start {
			continue
		}
		o.now.Saves += max(0, c.Savings)
		for _, n := range c.Nodes {
			going[s.Nodes[n].Name] = true
		}
	}
	for name := range going {
		if !o.going[name] {
			hour.Would.Removed++
		}
	}
	o.now.Remove, o.going = len(going), going
}
