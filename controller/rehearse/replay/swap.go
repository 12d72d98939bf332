package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/rehearse/simulate"
	"spokeshave.dev/controller/rehearse/source"
)

// Comparison is a recorded decision next to the one that other policies would have
// made.
type Comparison struct {
	Decision string    `json:"decision"`
	Time     time.Time `json:"time"`
	Recorded Summary   `json:"recorded"`
	Replayed Summary   `json:"replayed"`
	// HourlyDelta is by how much the replayed decision would have increased the hourly
	// cost more than the recorded one, in USD.
	HourlyDelta float64 `json:"hourlyDelta"`
}

// Summary summarizes a decision.
type Summary struct {
	// HourlyCost is the billed price of the nodes launched, volumes and addresses
	// included; Removed is that of the nodes removed. Both are USD per hour.
	HourlyCost float64                `json:"hourlyCost"`
	Removed    float64                `json:"removed"`
	Nodes      []journal.Node         `json:"nodes"`
	Unplaced   []journal.Waiting      `json:"unplaced"`
	Gone       []string               `json:"gone"`
	Headroom   []decide.CapStatus     `json:"headroom,omitempty"`
	Policies   []string               `json:"policies"`
	Dropped    map[string]int         `json:"dropped,omitempty"`
	ByCapacity map[string]model.Price `json:"byCapacityType,omitempty"`
}

// With makes a recorded decision again with other policies in place of all those of the
// record. No required policy counts as missing.
func With(ctx context.Context, r *journal.Record, policies []source.Policy) (_ *Comparison, err error) {
	s, err := r.Unpack()
	if err != nil {
		return nil, err
	}
	compiled, done, err := simulate.Compile(ctx, policies, s.Time)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return nil, err
	}
	opts := r.Asked.Options()
	opts.Missing, opts.LastCaps = nil, nil
	d, err := decide.Decide(ctx, s, compiled, opts)
	if err != nil {
		return nil, fmt.Errorf("decide %s with other policies: %w", r.ID, err)
	}
	other, err := journal.NewRecord(&journal.Decided{Snapshot: s, Decision: &d, Options: opts})
	if err != nil {
		return nil, err
	}
	out := &Comparison{Decision: r.ID, Time: r.Time, Recorded: summary(r, s), Replayed: summary(other, s)}
	out.HourlyDelta = (out.Replayed.HourlyCost - out.Replayed.Removed) - (out.Recorded.HourlyCost - out.Recorded.Removed)
	return out, nil
}

func summary(r *journal.Record, s *model.Snapshot) Summary {
	out := Summary{HourlyCost: r.HourlyCost.USD(), Nodes: r.Nodes, Unplaced: r.Unplaced, Headroom: r.Headroom, Gone: []string{}, Policies: []string{}}
	for i := range r.Commands {
		if c := &r.Commands[i]; c.Stage == string(decide.Start) {
			out.Nodes = append(out.Nodes, c.Replacements...)
			out.Gone = append(out.Gone, c.Nodes...)
		}
	}
	for i := range r.Disruptions {
		if r.Disruptions[i].Go {
			out.Gone = append(out.Gone, r.Disruptions[i].Node)
		}
	}
	prices := map[string]model.Price{}
	for i := range s.Nodes {
		prices[s.Nodes[i].Name] = s.Nodes[i].Price
	}
	for _, name := range out.Gone {
		out.Removed += prices[name].USD()
	}
	for i := range out.Nodes {
		if out.ByCapacity == nil {
			out.ByCapacity = map[string]model.Price{}
		}
		out.ByCapacity[string(out.Nodes[i].Best.CapacityType)] += out.Nodes[i].Best.Price
	}
	for i := range r.Policies {
		out.Policies = append(out.Policies, fmt.Sprintf("%s (%s) %.12s", r.Policies[i].Name, r.Policies[i].Hook, r.Policies[i].Hash))
	}
	for i := range r.Candidates {
		for _, d := range r.Candidates[i].Dropped {
			if out.Dropped == nil {
				out.Dropped = map[string]int{}
			}
			out.Dropped[d.Policy] += d.Count
		}
	}
	return out
}
