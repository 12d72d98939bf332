package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// Record is a decision in the decision log, one JSON object per line: an Entry, what
// the decision was made from, and the decision's exact bytes.
type Record struct {
	Entry

	// Asked are the options with which the decision was made.
	Asked  Asked  `json:"asked"`
	Timing Timing `json:"timing"`
	// Missed is the number of decisions just before this one that could not be written.
	Missed int `json:"missed,omitempty"`
	// Decision is the decision itself, whose indexes refer to the snapshot. A replay
	// has to produce exactly these bytes.
	Decision json.RawMessage `json:"decision"`
	// Stacks are the stacks of the panics that the decision met, in the order of its
	// failures.
	Stacks []string `json:"stacks,omitempty"`
	// Inputs are what a replay needs. They are there if the log was configured to keep
	// them.
	Inputs *Inputs `json:"inputs,omitempty"`
}

// Asked are the decide.Options that a decision depends on.
type Asked struct {
	Missing   []string                         `json:"missing,omitempty"`
	Suspended []policy.Suspension              `json:"suspended,omitempty"`
	LastCaps  map[string]map[string]policy.Cap `json:"lastCaps,omitempty"`
	Disrupt   bool                             `json:"disrupt,omitempty"`
	Search    bool                             `json:"search,omitempty"`
	Explain   bool                             `json:"explain,omitempty"`
}

// Options returns the options with which to make the decision again.
func (a *Asked) Options() decide.Options {
	return decide.Options{Missing: a.Missing, Suspended: a.Suspended, LastCaps: a.LastCaps, Disrupt: a.Disrupt, Search: a.Search, Explain: a.Explain}
}

// Timing is how long the parts of a decision took, in milliseconds.
type Timing struct {
	RankMs   float64 `json:"rankMs"`
	SolveMs  float64 `json:"solveMs"`
	ReviewMs float64 `json:"reviewMs"`
	TotalMs  float64 `json:"totalMs"`
}

// Inputs are everything that a decision depends on besides its options.
type Inputs struct {
	// Namespace is the controller's own: ceiling policies in other namespaces do not
	// apply.
	Namespace string `json:"namespace"`
	// Snapshot is the snapshot as JSON in gzip.
	Snapshot []byte            `json:"snapshot"`
	Policies []policy.Contents `json:"policies,omitempty"`
}

// Decided is a decision with what it was made from.
type Decided struct {
	Snapshot *model.Snapshot
	Decision *decide.Decision
	Options  decide.Options
	Policies []policy.Contents
}

// NewRecord returns the record of a decision, without inputs.
func NewRecord(in *Decided) (*Record, error) {
	d := in.Decision
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode decision %s: %w", d.ID, err)
	}
	digest, err := in.Snapshot.Digest()
	if err != nil {
		return nil, err
	}
	e := entry(in.Snapshot, d)
	e.Snapshot, e.Candidates = digest, offerings(in.Snapshot, d)
	if e.ID == "" { // nothing could be decided
		e.ID = "failed-" + digest[:16]
	}
	more := think(in.Snapshot, d)
	e.complete(&more)
	return &Record{
		Entry: e, Decision: raw, Stacks: stacks(d),
		Asked: Asked{
			Missing: in.Options.Missing, Suspended: in.Options.Suspended, LastCaps: in.Options.LastCaps, Disrupt: in.Options.Disrupt, Search: in.Options.Search, Explain: in.Options.Explain,
		},
		Timing: Timing{
			RankMs: millis(d.Timing.Rank), SolveMs: millis(d.Timing.Solve), ReviewMs: millis(d.Timing.Review), TotalMs: millis(d.Timing.Total),
		},
	}, nil
}

func stacks(d *decide.Decision) []string {
	var out []string
	for i := range d.Failures {
		if stack := d.Failures[i].Stack; stack != "" {
			out = append(out, stack)
		}
	}
	return out
}

// Keep adds the inputs to the record.
func (r *Record) Keep(in *Decided, namespace string) error {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if err := errors.Join(in.Snapshot.Encode(zip), zip.Close()); err != nil {
		return fmt.Errorf("pack the snapshot of decision %s: %w", r.ID, err)
	}
	r.Inputs = &Inputs{Namespace: namespace, Snapshot: packed.Bytes(), Policies: in.Policies}
	return nil
}

// maxSnapshot is the largest size of an uncompressed snapshot in bytes.
const maxSnapshot = 1 << 30

// Unpack returns the snapshot of the inputs. It is an error when the record has none,
// or another one than that of the decision.
func (r *Record) Unpack() (*model.Snapshot, error) {
	if r.Inputs == nil {
		return nil, fmt.Errorf("decision %s was recorded without its inputs: run the controller with --decision-log-inputs", r.ID)
	}
	zip, err := gzip.NewReader(bytes.NewReader(r.Inputs.Snapshot))
	if err != nil {
		return nil, fmt.Errorf("unpack the snapshot of decision %s: %w", r.ID, err)
	}
	var s model.Snapshot
	if err := json.NewDecoder(io.LimitReader(zip, maxSnapshot)).Decode(&s); err != nil {
		return nil, fmt.Errorf("unpack the snapshot of decision %s: %w", r.ID, err)
	}
	if err := s.Verify(); err != nil {
		return nil, fmt.Errorf("snapshot of decision %s: %w", r.ID, err)
	}
	digest, err := s.Digest()
	if err != nil {
		return nil, fmt.Errorf("snapshot of decision %s: %w", r.ID, err)
	}
	if digest != r.Snapshot {
		return nil, fmt.Errorf("snapshot of decision %s: its digest is %.12s, and %.12s was recorded: the file was changed, or written by another version", r.ID, digest, r.Snapshot)
	}
	return &s, nil
}

// HourlyCost returns the billed price per hour of a decision's planned nodes,
// replacements included, with their volumes and addresses.
func HourlyCost(s *model.Snapshot, d *decide.Decision) model.Price {
	sum := priced(s, d.Plan.Nodes)
	for i := range d.Commands {
		if d.Commands[i].Stage == decide.Start {
			sum += priced(s, d.Commands[i].Replacements)
		}
	}
	return sum
}

func priced(s *model.Snapshot, nodes []model.PlannedNode) model.Price {
	var sum model.Price
	for i := range nodes {
		n := &nodes[i]
		sum += n.Options[0].Price + s.NodeCost(n.Pool)
	}
	return sum
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
