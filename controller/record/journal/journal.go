// Package journal keeps the latest decisions and serves them as JSON, and
// writes them down as records that can be replayed. It is where explanations
// come from.
package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
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

// Version is the form of an Entry; fields are only ever added within one.
const Version = 1

// Entry is a decision with the names that its indexes stand for.
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
	// Snapshot is the digest of what was decided on. In memory it comes a moment
	// after the decision, and stays empty when decisions follow too fast.
	Snapshot string `json:"snapshot,omitempty"`
	// Candidates are the offerings that rank policies were asked about.
	Candidates []Offerings `json:"candidates,omitempty"`
	// HourlyCost is the billed price of the planned nodes, volumes and
	// addresses included, in micro-dollars per hour.
	HourlyCost model.Price `json:"hourlyCost"`
	// Strategy is the solver's that made the plan, Strategies is how many it tried;
	// empty when no pod waited.
	Strategy   string  `json:"strategy,omitempty"`
	Strategies int     `json:"strategies,omitempty"`
	SolveMs    float64 `json:"solveMs"`
	TotalMs    float64 `json:"totalMs"`
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
	// OtherTypes are the best offerings of the next best instance types that Best
	// and Others are not of, and that would have held the pods. Like NotOn, they
	// come a moment after the decision.
	OtherTypes []model.Option `json:"otherTypes,omitempty"`
	Pods       []string       `json:"pods"`
	// Remarks are what rank policies said of the score of Best.
	Remarks []policy.Remark `json:"remarks,omitempty"`
	// NotOn says why its pods are not on nodes that there were. Like the digest,
	// it comes a moment after the decision.
	NotOn []NotOn `json:"notOn,omitempty"`
}

// NotOn says of pods that are alike why no node took them. Pods are indexes of
// Node.Pods.
type NotOn struct {
	Pods     []int           `json:"pods"`
	Refusals []check.Refusal `json:"refusals"`
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

// Command is a disruption of several nodes at once, or with replacements, and
// the step that it took.
type Command struct {
	Method       string      `json:"method"`
	Stage        string      `json:"stage"`
	Nodes        []string    `json:"nodes"`
	Replacements []Node      `json:"replacements,omitempty"`
	Savings      model.Price `json:"savings"`
	Reason       string      `json:"reason,omitempty"`
}

// Candidate is a node that was judged.
type Candidate struct {
	Node string `json:"node"`
	// Claim is the node's NodeClaim, whose name the decision that launched it knows.
	Claim string `json:"claim,omitempty"`
	// Method is the kind of disruption that was considered.
	Method string `json:"method,omitempty"`
	Go     bool   `json:"go"`
	Policy string `json:"policy,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Since is when the node was first kept for this reason, without another in
	// between.
	Since time.Time `json:"since,omitzero"`
}

// key is what the node is called from its launch to its end.
func (c *Candidate) key() string { return cmp.Or(c.Claim, c.Node) }

// says whether two judgements are the same, whenever they were made.
func (c *Candidate) says(o *Candidate) bool {
	return c.key() == o.key() && c.Method == o.Method && c.Policy == o.Policy && c.Reason == o.Reason
}

// Journal is a bounded memory of decisions. The zero value keeps nothing;
// use New.
type Journal struct {
	mu      sync.Mutex
	entries []Entry
	keep    int
	digests digests
}

// New makes a journal of the last keep decisions that did something.
func New(keep int) *Journal {
	return &Journal{keep: keep, digests: digests{places: make(chan struct{}, undigested)}}
}

// Add records a decision that launches, refuses or judges something. One that
// launches nothing and says what the one before it said is dropped. It returns
// whether the decision did or said something new.
func (j *Journal) Add(ctx context.Context, s *model.Snapshot, d *decide.Decision) bool {
	if len(d.Plan.Nodes)+len(d.Plan.Existing)+len(d.Plan.Unplaced)+len(d.Disruptions)+len(d.Commands) == 0 {
		return false
	}
	e := entry(s, d)
	if len(e.Nodes) > 0 {
		logr.FromContextOrDiscard(ctx).Info("decided", "decision", e.ID, "pods", e.Pods, "nodes", len(e.Nodes),
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
	if n > 0 && idle(&j.entries[n-1]) && idle(&e) { // or nothing but this would be kept
		e.Disruptions = append(j.entries[n-1].Disruptions, e.Disruptions...)
		j.entries = j.entries[:n-1]
	}
	j.entries = append(j.entries, e)
	if len(j.entries) > j.keep {
		j.entries = j.entries[len(j.entries)-j.keep:]
	}
	j.complete(ctx, s, d, &e)
	return !idle(&e) || slices.ContainsFunc(e.Disruptions, func(c Candidate) bool { return c.Since.Equal(e.Time) })
}

// since remembers since when a node is kept for the same reason.
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

// outdate drops why nodes stayed that are judged anew: it is said of every
// node, every time, and only the latest counts.
func (j *Journal) outdate(e *Entry) {
	judged := map[string]bool{}
	for i := range e.Disruptions {
		judged[e.Disruptions[i].key()] = true
	}
	for i := range j.entries {
		j.entries[i].Disruptions = slices.DeleteFunc(j.entries[i].Disruptions, func(c Candidate) bool { return !c.Go && judged[c.key()] })
	}
}

// idle says that a decision did nothing but judge nodes that stay.
func idle(e *Entry) bool {
	return len(e.Nodes)+len(e.Existing)+len(e.Unplaced)+len(e.Commands) == 0 &&
		!slices.ContainsFunc(e.Disruptions, func(c Candidate) bool { return c.Go })
}

// Entries are the decisions kept, oldest first.
func (j *Journal) Entries() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
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
	return len(e.Nodes) == 0 && reflect.DeepEqual(last.Commands, e.Commands) && reflect.DeepEqual(last.Unplaced, e.Unplaced) && reflect.DeepEqual(last.Disruptions, e.Disruptions)
}

func cost(d *decide.Decision) model.Price {
	var sum model.Price
	for i := range d.Plan.Nodes {
		sum += d.Plan.Nodes[i].Options[0].Price
	}
	return sum
}
