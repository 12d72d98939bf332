// Package observe compares what a controller in mode Observe would have done with what
// another autoscaler, such as Karpenter, really did. Hour by hour it adds up what the
// nodes cost, what they would have cost without those that the controller would have
// removed or replaced, and what each side launched.
//
// The savings are a lower bound. Since the decisions are not applied, each one counts
// only the next step of a consolidation and never the steps after it. A pod that waits
// through several decisions counts once.
//
// What a controller that acts has spent is in controller/core/spend.
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
	// gap is the longest time between two decisions that is counted.
	gap = 10 * time.Minute
)

// Side is one side of the comparison: what really happened, or what would have
// happened.
type Side struct {
	// Cost is what the nodes cost, or would have.
	Cost spend.Amount `json:"cost"`
	// Launched is the number of nodes launched, Price what they cost per hour together.
	Launched int         `json:"launched"`
	Price    model.Price `json:"launchedPrice"`
	// Removed is the number of nodes that were removed, or would have been removed or
	// replaced.
	Removed int `json:"removed"`
}

// Hour is what was recorded within one hour, UTC.
type Hour struct {
	Start time.Time `json:"start"`
	// Seconds is how much of the hour was observed.
	Seconds int64 `json:"seconds"`
	Really  Side  `json:"really"`
	Would   Side  `json:"would"`
}

// Now is the state at the latest decision.
type Now struct {
	Time time.Time `json:"time"`
	// Rate is the cost of all nodes per hour, Saves how much of it the next step would
	// save.
	Rate  model.Price `json:"rate"`
	Saves model.Price `json:"saves"`
	// Launch is the number of nodes that would be launched for waiting pods, Remove
	// that of nodes that would be removed.
	Launch int `json:"launch"`
	Remove int `json:"remove"`
	// Waiting is the number of pods for which neither side has a place.
	Waiting int `json:"waiting"`
}

// Observer adds up the comparison. The zero value is ready. It is safe for concurrent
// use.
type Observer struct {
	mu    sync.Mutex
	hours []Hour
	now   Now
	// nodes are the nodes at the latest decision, by name.
	nodes map[string]bool
	// planned are the waiting pods that were counted, by UID; going are the nodes that
	// would have been removed.
	planned, going map[string]bool
}

// Add records a decision that is not applied.
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

// hour returns the Hour of a time. It appends it when it is new, and drops the oldest
// beyond keep.
func (o *Observer) hour(at time.Time) *Hour {
	start := at.UTC().Truncate(time.Hour)
	if n := len(o.hours); n == 0 || o.hours[n-1].Start.Before(start) {
		o.hours = append(o.hours, Hour{Start: start})
		o.hours = o.hours[max(0, len(o.hours)-keep):]
	}
	return &o.hours[len(o.hours)-1]
}

// really counts the nodes that exist, and those that appeared and disappeared since the
// last decision.
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

// cost returns what a node costs per hour. A node of another autoscaler has no claim
// and costs what the catalogue lists for its type.
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

// remove counts the nodes that would be removed and were not counted before.
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
