package main

import (
	"cmp"
	"slices"
	"time"
)

// figures are what one run of a scenario showed. Times are in seconds.
//
// Size: one field for each figure that is reported.
type figures struct {
	Scenario   string  `json:"scenario"`
	Controller string  `json:"controller"`
	Seed       uint64  `json:"seed"`
	Boot       float64 `json:"bootSeconds"`
	// Pods is how many pods the burst created. LastCreated is when the last one came.
	Pods        int     `json:"pods"`
	LastCreated float64 `json:"lastCreatedSeconds"`
	// RunningAfter is, from the burst's begin, when so many of its pods ran; Waited is for how
	// long a pod waited from its creation until it ran.
	RunningAfter percentiles `json:"runningAfterSeconds"`
	Waited       percentiles `json:"waitedSeconds"`
	// ReadyToBound is, for each pod, the time during which its node was ready and the pod,
	// which existed, was not yet bound.
	ReadyToBound percentiles `json:"readyToBoundSeconds"`
	// Running is the fleet when all pods ran, Plan what one plan of the same pods would
	// launch, Settled the fleet after consolidation.
	Running fleet `json:"running"`
	Plan    fleet `json:"plan"`
	Settled fleet `json:"settled"`
	// IsSettled says that the fleet stopped changing in the time that it was given.
	IsSettled bool `json:"isSettled"`
	// SettledAfter is from all pods running to the last change of the fleet and its wait,
	// Evictions how many pods were evicted in it.
	SettledAfter float64  `json:"settledAfterSeconds"`
	Evictions    int      `json:"evictions"`
	Used         counters `json:"used"`
	// Slowest are the pods that waited longest, the longest first.
	Slowest []slowPod `json:"slowest"`
	// Line is, for plots, how many pods existed, were bound and ran in each second.
	Line []second `json:"line"`
}

// slowPod is when a pod that waited long reached each state, from the burst's begin, and when
// its node was ready.
type slowPod struct {
	Name    string  `json:"name"`
	Node    string  `json:"node"`
	Created float64 `json:"createdSeconds"`
	Ready   float64 `json:"nodeReadySeconds"`
	Bound   float64 `json:"boundSeconds"`
	Running float64 `json:"runningSeconds"`
}

// percentiles of a distribution.
type percentiles struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Last float64 `json:"last"`
}

// fleet is a number of nodes and what they cost together.
type fleet struct {
	Nodes  int     `json:"nodes"`
	Hourly float64 `json:"hourlyUSD"`
}

// second is how many pods had reached each state by the end of a second.
type second struct {
	Created int `json:"created"`
	Bound   int `json:"bound"`
	Running int `json:"running"`
}

// times fills in what the timeline says of the pods that came after start. Pods that
// were deleted before they ran count as created only.
func (f *figures) times(start time.Time, pods []podTimes, ready map[string]time.Time) {
	f.Pods = len(pods)
	var after, waited, idle []float64
	for i := range pods {
		p := &pods[i]
		f.LastCreated = max(f.LastCreated, p.created.Sub(start).Seconds())
		if p.running.IsZero() {
			continue
		}
		after = append(after, p.running.Sub(start).Seconds())
		waited = append(waited, p.running.Sub(p.created).Seconds())
		if at := ready[p.node]; at.After(start) {
			from := at
			if p.created.After(from) {
				from = p.created
			}
			idle = append(idle, max(0, p.bound.Sub(from).Seconds()))
		}
	}
	f.Slowest = slowest(start, pods, ready)
	f.RunningAfter, f.Waited, f.ReadyToBound = spread(after), spread(waited), spread(idle)
	f.Line = line(start, pods)
}

// slowest returns the ten pods that waited longest.
func slowest(start time.Time, pods []podTimes, ready map[string]time.Time) []slowPod {
	ran := slices.DeleteFunc(slices.Clone(pods), func(p podTimes) bool { return p.running.IsZero() })
	slices.SortFunc(ran, func(x, y podTimes) int {
		return cmp.Or(cmp.Compare(y.running.Sub(y.created), x.running.Sub(x.created)), cmp.Compare(x.name, y.name))
	})
	var out []slowPod
	for _, p := range ran[:min(10, len(ran))] {
		after := func(at time.Time) float64 { return at.Sub(start).Seconds() }
		out = append(out, slowPod{Name: p.name, Node: p.node, Created: after(p.created), Ready: after(ready[p.node]), Bound: after(p.bound), Running: after(p.running)})
	}
	return out
}

// spread returns the percentiles of values.
func spread(values []float64) percentiles {
	if len(values) == 0 {
		return percentiles{}
	}
	slices.Sort(values)
	at := func(share float64) float64 { return values[min(len(values)-1, int(share*float64(len(values))))] }
	return percentiles{P50: at(0.5), P90: at(0.9), P99: at(0.99), Last: values[len(values)-1]}
}

// line counts pods by second.
func line(start time.Time, pods []podTimes) []second {
	var out []second
	add := func(at time.Time, to func(*second) *int) {
		if at.IsZero() {
			return
		}
		for n := int(at.Sub(start).Seconds()); len(out) <= n; {
			out = append(out, second{})
		}
		*to(&out[int(at.Sub(start).Seconds())])++
	}
	for i := range pods {
		add(pods[i].created, func(s *second) *int { return &s.Created })
		add(pods[i].bound, func(s *second) *int { return &s.Bound })
		add(pods[i].running, func(s *second) *int { return &s.Running })
	}
	for i := 1; i < len(out); i++ {
		out[i].Created += out[i-1].Created
		out[i].Bound += out[i-1].Bound
		out[i].Running += out[i-1].Running
	}
	return out
}
