package policy

import (
	"context"
	"errors"
)

// FailedCall is the fault of one call of a hook. Call numbers the calls of a
// decision from 0.
type FailedCall struct {
	Call    int       `json:"call"`
	Kind    FaultKind `json:"kind"`
	Message string    `json:"message"`
}

// note records the fault of the call just made when a replay would not reproduce it:
// it depended on the machine's load, on the memory of the process or on earlier
// decisions.
func (u *Use) note(err error) {
	f, ok := errors.AsType[*Fault](err)
	if !ok {
		return
	}
	switch f.Kind {
	case FaultDeadline, FaultTripped, FaultMemory:
		u.Unrepeatable = append(u.Unrepeatable, FailedCall{Call: u.Calls - 1, Kind: f.Kind, Message: f.Message})
	case FaultTrap, FaultFuel, FaultDepth, FaultBadReply, FaultInternal:
	}
}

// Repeat returns a policy that fails at the same calls as in the decision that uses
// records, with the faults that a replay would not reproduce. It is for replaying
// that decision once.
func Repeat(p Policy, uses []Use) Policy {
	info := p.Info()
	r := &repeated{Policy: p, failed: map[Hook][]FailedCall{}, calls: map[Hook]int{}}
	for i := range uses {
		if u := &uses[i]; u.Namespace == info.Namespace && u.Name == info.Name {
			r.failed[u.Hook] = u.Unrepeatable
		}
	}
	return r
}

type repeated struct {
	Policy

	failed map[Hook][]FailedCall
	calls  map[Hook]int
}

// next counts a call and returns the fault recorded for it, nil for none.
func (r *repeated) next(h Hook) error {
	call := r.calls[h]
	r.calls[h]++
	for _, f := range r.failed[h] {
		if f.Call == call {
			return &Fault{Kind: f.Kind, Message: f.Message}
		}
	}
	return nil
}

// Rank implements Policy.
func (r *repeated) Rank(ctx context.Context, in *RankInput) ([]RankAnswer, error) {
	if err := r.next(HookRank); err != nil {
		return nil, err
	}
	return r.Policy.Rank(ctx, in)
}

// Consolidate implements Policy.
func (r *repeated) Consolidate(ctx context.Context, in *ConsolidateInput) ([]ConsolidateAnswer, error) {
	if err := r.next(HookConsolidate); err != nil {
		return nil, err
	}
	return r.Policy.Consolidate(ctx, in)
}

// Ceiling implements Policy.
func (r *repeated) Ceiling(ctx context.Context, in *CeilingInput) (CeilingAnswer, error) {
	if err := r.next(HookCeiling); err != nil {
		return CeilingAnswer{}, err
	}
	return r.Policy.Ceiling(ctx, in)
}
