package backtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/record/journal"
)

// Recorded returns the workload that a controller saw, from those records of its
// decision log that have inputs, in order of time. Pools, prices and DaemonSets are
// those of the first record. A pod arrives at its creation time and ends at the first
// record without it; pods in the last record do not end. Pods on unmanaged nodes are
// left out.
func Recorded(records []journal.Record) (*Workload, error) {
	r := &recording{specs: map[string]int32{}, at: map[string]int{}, away: map[string]int{}}
	for i := range records {
		if records[i].Inputs == nil {
			continue
		}
		s, err := records[i].Unpack()
		if err != nil {
			return nil, err
		}
		if err := r.add(s); err != nil {
			return nil, err
		}
	}
	if r.Start.IsZero() {
		return nil, errors.New("the recording has no inputs: run the controller with --decision-log-inputs")
	}
	if !r.End.After(r.Start) {
		return nil, errors.New("the recording has a single moment: a backtest needs a time")
	}
	slices.SortStableFunc(r.Pods, func(a, b Pod) int { return a.Arrival.Compare(b.Arrival) })
	return &r.Workload, nil
}

type recording struct {
	Workload

	specs map[string]int32 // by what is in them
	at    map[string]int   // place in Pods, by UID
	away  map[string]int   // of a budget's pods at once, by its namespace and name
	// alive are the pods that have not ended.
	alive map[string]bool
}

func (r *recording) add(s *model.Snapshot) error {
	if r.Start.IsZero() {
		r.Start, r.Base = s.Time, *s
		r.Base.Nodes, r.Base.Pods, r.Base.Specs, r.Base.Budgets, r.Base.Spent, r.Base.Departed = nil, nil, nil, nil, nil, nil
	} else if s.Time.Before(r.End) {
		return fmt.Errorf("the recording goes back from %s to %s: name one log at a time", r.End.Format(time.RFC3339), s.Time.Format(time.RFC3339))
	}
	r.End = s.Time
	r.budgets(s)
	now := map[string]bool{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Daemon || p.Announced != "" || p.Ending || p.Node >= 0 && s.Nodes[p.Node].Pool < 0 {
			continue
		}
		now[p.UID] = true
		if _, known := r.at[p.UID]; known {
			continue
		}
		spec, err := r.spec(&s.Specs[p.Spec])
		if err != nil {
			return err
		}
		r.at[p.UID] = len(r.Pods)
		r.Pods = append(r.Pods, Pod{
			Namespace: p.Namespace, Name: p.Name, Workload: p.Workload, Spec: spec, Arrival: later(p.Created, r.Start), Job: p.Job, DoNotDisrupt: p.DoNotDisrupt,
		})
	}
	for uid := range r.alive {
		if p := &r.Pods[r.at[uid]]; !now[uid] {
			p.Lifetime = max(time.Second, s.Time.Sub(p.Arrival))
		}
	}
	r.alive = now
	return nil
}

// budgets records the PodDisruptionBudgets. The number of pods that may be away at once
// is the largest sum seen of the budget's waiting pods and the disruptions that it
// still allowed.
func (r *recording) budgets(s *model.Snapshot) {
	for i := range s.Budgets {
		b := &s.Budgets[i]
		key := b.Namespace + "/" + b.Name
		if _, known := r.away[key]; !known {
			r.away[key] = 0
			r.Budgets = append(r.Budgets, Budget{PodBudget: *b, Away: func(int) int { return r.away[key] }})
		}
		if b.Allowed <= 0 {
			continue
		}
		waiting := 0
		for p := range s.Pods {
			spec := &s.Specs[s.Pods[p].Spec]
			if s.Pods[p].Node < 0 && !s.Pods[p].Daemon && b.Selector.Matches(spec.Namespace, spec.Labels) {
				waiting++
			}
		}
		r.away[key] = max(r.away[key], int(b.Allowed)+waiting)
	}
}

// spec returns the index of a spec among all recorded specs.
func (r *recording) spec(p *model.PodSpec) (int32, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return 0, fmt.Errorf("read recording: %w", err)
	}
	at, known := r.specs[string(raw)]
	if !known {
		at = int32(len(r.Base.Specs))
		r.specs[string(raw)] = at
		r.Base.Specs = append(r.Base.Specs, *p)
	}
	return at, nil
}
