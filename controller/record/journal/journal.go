// Package journal keeps the latest decisions in memory, serves them as JSON, and writes
// them to a log as records that can be replayed. Package explain reads them.
package journal

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// Version is the version of Entry's format. Within a version fields are only added.
const Version = 1

// Entry is a decision with names in place of indexes into the snapshot.
//
// Size: one field for each part of a journal entry; the page and explain read it in this
// form.
type Entry struct {
	Version     int                `json:"version"`
	ID          string             `json:"id"`
	Time        time.Time          `json:"time"`
	Pods        int                `json:"pods"`
	Nodes       []Node             `json:"nodes"`
	Existing    []Placed           `json:"existing,omitempty"`
	Unplaced    []Waiting          `json:"unplaced"`
	Disruptions []Candidate        `json:"disruptions"`
	Commands    []Command          `json:"commands,omitempty"`
	Headroom    []decide.CapStatus `json:"headroom"`
	Warnings    []string           `json:"warnings,omitempty"`
	Policies    []policy.Use       `json:"policies"`
	// Suspended are the policies that were not asked because they are suspended.
	Suspended []policy.Suspension `json:"suspended,omitempty"`
	// Snapshot is the digest of the snapshot on which the decision was made. It is
	// added shortly after the decision, and stays empty when decisions follow each
	// other too fast.
	Snapshot string `json:"snapshot,omitempty"`
	// Candidates are the offerings that rank policies ranked.
	Candidates []Offerings `json:"candidates,omitempty"`
	// HourlyCost is the billed price of the planned nodes, volumes and
	// addresses included, in micro-dollars per hour.
	HourlyCost model.Price `json:"hourlyCost"`
	// Strategy is the solver's strategy that made the plan, Strategies how many it
	// tried. Both are empty when no pod waited.
	Strategy   string  `json:"strategy,omitempty"`
	Strategies int     `json:"strategies,omitempty"`
	SolveMs    float64 `json:"solveMs"`
	TotalMs    float64 `json:"totalMs"`
}

// alternatives is how many of a node's next best options are kept.
const alternatives = 3

// Node is a node that was launched, with the next best options.
type Node struct {
	// Claim is the NodeClaim's name; in mode Observe, the name that it would have.
	Claim    string         `json:"claim"`
	NodePool string         `json:"nodePool"`
	Best     model.Option   `json:"best"`
	Others   []model.Option `json:"others"`
	// OtherTypes are the best offerings of the next best instance types that would have
	// held the pods and are not among Best and Others. Like NotOn, they are added
	// shortly after the decision.
	OtherTypes []model.Option `json:"otherTypes,omitempty"`
	Pods       []string       `json:"pods"`
	// Remarks are what rank policies noted about the score of Best.
	Remarks []policy.Remark `json:"remarks,omitempty"`
	// NotOn says why no existing node took the pods. Like the digest, it is added
	// shortly after the decision.
	NotOn []NotOn `json:"notOn,omitempty"`
}

// NotOn says why no existing node took some equal pods. Pods are indexes into
// Node.Pods.
type NotOn struct {
	Pods     []int           `json:"pods"`
	Refusals []check.Refusal `json:"refusals"`
}

// Placed are pods that were planned onto an existing node or one in flight.
type Placed struct {
	Node string   `json:"node"`
	Pods []string `json:"pods"`
}

// Waiting is a pod that could not be placed.
type Waiting struct {
	Pod     string         `json:"pod"`
	Reasons []model.Reason `json:"reasons"`
}

// Command is a disruption of several nodes together, or of nodes with replacements, and
// the step that it took.
type Command struct {
	Method       string      `json:"method"`
	Stage        string      `json:"stage"`
	Nodes        []string    `json:"nodes"`
	Replacements []Node      `json:"replacements,omitempty"`
	Savings      model.Price `json:"savings"`
	Reason       string      `json:"reason,omitempty"`
}

// Candidate is a node that was considered for disruption, and the result.
type Candidate struct {
	Node string `json:"node"`
	// Claim is the node's NodeClaim. The decision that launched the node knows only
	// this name.
	Claim string `json:"claim,omitempty"`
	// Method is the kind of disruption that was considered.
	Method string `json:"method,omitempty"`
	Go     bool   `json:"go"`
	Policy string `json:"policy,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Since is when the first of the latest uninterrupted decisions kept the node for
	// this reason.
	Since time.Time `json:"since,omitzero"`
}

// key is a name that the node has from its launch to its end.
func (c *Candidate) key() string { return cmp.Or(c.Claim, c.Node) }

// says reports whether two results are equal apart from their times.
func (c *Candidate) says(o *Candidate) bool {
	return c.key() == o.key() && c.Method == o.Method && c.Policy == o.Policy && c.Reason == o.Reason
}

// Journal keeps a limited number of decisions in memory. Use New: the zero value keeps
// none.
type Journal struct {
	mu      sync.Mutex
	entries []Entry
	// keep is how many decisions are kept at most, bytes how many bytes of JSON they may take
	// together, by the estimate of size. The latest is kept whatever it takes.
	keep, bytes int
	digests     digests
}

// New returns a journal of the last keep decisions that changed something, and of fewer
// if they take more bytes as JSON than the limit, by an estimate that is right to within a
// factor of two. The latest decision is kept whatever it takes.
func New(keep, bytes int) *Journal {
	return &Journal{keep: keep, bytes: bytes, digests: digests{places: make(chan struct{}, undigested)}}
}

// Add records a decision with launches, waiting pods or disruption results. It drops a
// decision that launches nothing and equals the one before it. It returns whether the
// decision did or said something new.
func (j *Journal) Add(ctx context.Context, s *model.Snapshot, d *decide.Decision) bool {
	if len(d.Plan.Nodes)+len(d.Plan.Existing)+len(d.Plan.Unplaced)+len(d.Disruptions)+len(d.Commands) == 0 {
		return false
	}
	e := entry(s, d)
	if len(e.Nodes) > 0 {
		logr.FromContextOrDiscard(ctx).WithName("decision").Info("decided", "decision", e.ID, "pods", e.Pods, "nodes", len(e.Nodes),
			"waiting", len(e.Unplaced), "hourly", cost(d).String(), "solveMs", e.SolveMs)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.since(&e)
	n := len(j.entries)
	if n > 0 && repeats(&j.entries[n-1], &e) {
		return false
	}
	e.Candidates = j.shared(offerings(s, d))
	j.outdate(&e)
	if n > 0 && idle(&j.entries[n-1]) && idle(&e) { // without this, only such decisions would be kept
		e.Disruptions = slices.Concat(j.entries[n-1].Disruptions, e.Disruptions)
		j.entries = j.entries[:n-1]
	}
	j.entries = append(j.entries, e)
	j.bounded()
	j.complete(ctx, s, d, &e)
	return !idle(&e) || slices.ContainsFunc(e.Disruptions, func(c Candidate) bool { return c.Since.Equal(e.Time) })
}

// since fills in since when each node is kept for the same reason.
func (j *Journal) since(e *Entry) {
	last := map[string]*Candidate{}
	for i := range j.entries {
		for k := range j.entries[i].Disruptions {
			if c := &j.entries[i].Disruptions[k]; !c.Go {
				last[c.key()] = c
			}
		}
	}
	for i := range e.Disruptions {
		c := &e.Disruptions[i]
		switch old := last[c.key()]; {
		case c.Go:
		case old != nil && old.says(c):
			c.Since = old.Since
		default:
			c.Since = e.Time
		}
	}
}

// outdate removes from older entries why nodes were kept that the new entry has results
// for: every decision has one for every node, and only the latest matters. It leaves the
// old lists as they are, because readers may hold them.
func (j *Journal) outdate(e *Entry) {
	judged := map[string]bool{}
	for i := range e.Disruptions {
		judged[e.Disruptions[i].key()] = true
	}
	outdated := func(c Candidate) bool { return !c.Go && judged[c.key()] }
	for i := range j.entries {
		if old := j.entries[i].Disruptions; slices.ContainsFunc(old, outdated) {
			j.entries[i].Disruptions = slices.DeleteFunc(slices.Clone(old), outdated)
		}
	}
}

// idle reports whether a decision did nothing but keep nodes.
func idle(e *Entry) bool {
	return len(e.Nodes)+len(e.Existing)+len(e.Unplaced)+len(e.Commands) == 0 &&
		!slices.ContainsFunc(e.Disruptions, func(c Candidate) bool { return c.Go })
}

// Entries returns the decisions kept, oldest first.
func (j *Journal) Entries() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

func repeats(last, e *Entry) bool {
	return len(e.Nodes) == 0 && reflect.DeepEqual(last.Commands, e.Commands) && slices.Equal(last.Suspended, e.Suspended) && reflect.DeepEqual(last.Unplaced, e.Unplaced) && reflect.DeepEqual(last.Disruptions, e.Disruptions)
}

func cost(d *decide.Decision) model.Price {
	var sum model.Price
	for i := range d.Plan.Nodes {
		sum += d.Plan.Nodes[i].Options[0].Price
	}
	return sum
}
