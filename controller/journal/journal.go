// Package journal keeps the latest decisions and serves them as JSON. It is
// where events and explanations come from, and where replay will.
package journal

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"spokeshave.dev/controller/decide"
	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/policy"
)

// Version is the form of an Entry; fields are only ever added within one.
const Version = 1

// Entry is a decision with the names that its indexes stand for.
type Entry struct {
	Version     int               `json:"version"`
	ID          string            `json:"id"`
	Time        time.Time         `json:"time"`
	Pods        int               `json:"pods"`
	Nodes       []Node            `json:"nodes"`
	Existing    []Placed          `json:"existing,omitempty"`
	Unplaced    []Waiting         `json:"unplaced"`
	Disruptions []Candidate       `json:"disruptions"`
	Headroom    []decide.Headroom `json:"headroom"`
	Warnings    []string          `json:"warnings,omitempty"`
	Policies    []policy.Use      `json:"policies"`
	SolveMs     float64           `json:"solveMs"`
	TotalMs     float64           `json:"totalMs"`
}

// alternatives is how many of a node's other options are kept: the next best.
const alternatives = 3

// Node is a node that was launched, with the next best options.
type Node struct {
	// Claim names the NodeClaim, in mode Observe the one there would be.
	Claim    string         `json:"claim"`
	NodePool string         `json:"nodePool"`
	Best     model.Option   `json:"best"`
	Others   []model.Option `json:"others"`
	Pods     []string       `json:"pods"`
}

// Placed are pods that were planned onto a node that exists or is in flight.
type Placed struct {
	Node string   `json:"node"`
	Pods []string `json:"pods"`
}

// Waiting is a pod that found no place.
type Waiting struct {
	Pod     string         `json:"pod"`
	Reasons []model.Reason `json:"reasons"`
}

// Candidate is a node that was judged.
type Candidate struct {
	Node string `json:"node"`
	// Method is the kind of disruption that was considered.
	Method string `json:"method,omitempty"`
	Go     bool   `json:"go"`
	Policy string `json:"policy,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Journal is a bounded memory of decisions. The zero value keeps nothing;
// use New.
type Journal struct {
	mu      sync.Mutex
	entries []Entry
	keep    int
}

// New makes a journal of the last keep decisions that did something.
func New(keep int) *Journal { return &Journal{keep: keep} }

// Add records a decision that launches, refuses or judges something. One that
// launches nothing and says what the one before it said is dropped.
func (j *Journal) Add(ctx context.Context, s *model.Snapshot, d *decide.Decision) {
	if len(d.Plan.Nodes)+len(d.Plan.Existing)+len(d.Plan.Unplaced)+len(d.Disruptions) == 0 {
		return
	}
	e := entry(s, d)
	if len(e.Nodes) > 0 {
		logr.FromContextOrDiscard(ctx).Info("decided", "decision", e.ID, "pods", e.Pods, "nodes", len(e.Nodes),
			"waiting", len(e.Unplaced), "hourly", cost(d).String(), "solveMs", e.SolveMs)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.entries); n > 0 && repeats(&j.entries[n-1], &e) {
		return
	}
	j.entries = append(j.entries, e)
	if len(j.entries) > j.keep {
		j.entries = j.entries[len(j.entries)-j.keep:]
	}
}

// ServeHTTP answers with the journal as JSON, oldest first.
func (j *Journal) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	j.mu.Lock()
	body, err := json.Marshal(j.entries)
	j.mu.Unlock()
	if err != nil {
		http.Error(w, "encode journal: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// A reader that hangs up is nobody's problem.
	_, _ = w.Write(body)
}

func repeats(last, e *Entry) bool {
	return len(e.Nodes) == 0 && reflect.DeepEqual(last.Unplaced, e.Unplaced) && reflect.DeepEqual(last.Disruptions, e.Disruptions)
}

func cost(d *decide.Decision) model.Price {
	var sum model.Price
	for i := range d.Plan.Nodes {
		sum += d.Plan.Nodes[i].Options[0].Price
	}
	return sum
}

func entry(s *model.Snapshot, d *decide.Decision) Entry {
	e := Entry{
		Version: Version, ID: d.ID, Time: d.Time, Headroom: d.Headroom, Warnings: d.Warnings, Policies: d.Policies,
		SolveMs: float64(d.Timing.Solve.Microseconds()) / 1000, TotalMs: float64(d.Timing.Total.Microseconds()) / 1000,
	}
	for i := range s.Pods {
		if s.NeedsPlace(&s.Pods[i]) {
			e.Pods++
		}
	}
	for i := range d.Plan.Nodes {
		n := &d.Plan.Nodes[i]
		node := Node{Claim: model.ClaimName(s.Pools[n.Pool].Name, d.ID, i), NodePool: s.Pools[n.Pool].Name, Best: n.Options[0], Others: slices.Clone(n.Options[1:min(len(n.Options), 1+alternatives)])}
		for _, p := range n.Pods {
			node.Pods = append(node.Pods, s.Pods[p].Key())
		}
		e.Nodes = append(e.Nodes, node)
	}
	for i := range d.Plan.Existing {
		x := &d.Plan.Existing[i]
		placed := Placed{Node: s.Nodes[x.Node].Name}
		for _, p := range x.Pods {
			placed.Pods = append(placed.Pods, s.Pods[p].Key())
		}
		e.Existing = append(e.Existing, placed)
	}
	for i := range d.Plan.Unplaced {
		u := &d.Plan.Unplaced[i]
		e.Unplaced = append(e.Unplaced, Waiting{Pod: s.Pods[u.Pod].Key(), Reasons: u.Reasons})
	}
	for i := range d.Disruptions {
		c := &d.Disruptions[i]
		e.Disruptions = append(e.Disruptions, Candidate{Node: s.Nodes[c.Node].Name, Method: string(c.Method), Go: c.Go, Policy: c.Policy, Reason: c.Reason})
	}
	return e
}
