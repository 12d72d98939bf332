// Package policy is the port through which users' policies take part in a
// decision: the interface an engine implements, and the algebra that combines
// several answers into one.
//
// Verdicts only ever remove, reorder or refuse; nothing a policy says can put
// a pod where its constraints forbid it.
//
// Not here: engines (policy/wasm, policy/rego), wire formats (policy/wire) and
// where policies come from (policy/load).
package policy

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Hook is a question that policies answer.
type Hook string

// The hooks.
const (
	HookRank        Hook = "rank"
	HookConsolidate Hook = "consolidate"
	HookCeiling     Hook = "ceiling"
)

// Mode says whether a policy's answers are obeyed.
type Mode string

// The modes.
const (
	Enforce Mode = "Enforce"
	// Shadow policies are asked and recorded, and change nothing.
	Shadow Mode = "Shadow"
)

// FailurePolicy says what a fault of a policy means.
type FailurePolicy string

// The failure policies; the zero value is the hook's default: rank Ignore,
// consolidate Fail, ceiling Fail.
const (
	Fail   FailurePolicy = "Fail"
	Ignore FailurePolicy = "Ignore"
)

// Info describes a loaded policy.
type Info struct {
	// Name is the ConfigMap's name, Namespace its namespace.
	Name      string
	Namespace string
	// Hash is the content hash of everything that determines its answers.
	Hash     string
	Engine   string
	Hooks    []Hook
	Mode     Mode
	Priority int
	// Failure applies to all hooks of the policy; empty means the defaults.
	Failure FailurePolicy
	Match   Match
	// Guards says that the ceiling hook may refuse launches, so that its caps
	// alone cannot stand in for it. The engine sets it, as far as it can tell
	// from the code: false only when no answer can hold a refusal.
	Guards bool
}

// Policy is a compiled policy. Implementations are safe for concurrent use and
// return a *Fault for anything that went wrong inside the policy, ErrNoOpinion
// when the policy declines to answer. A hook not listed in Info is never asked.
type Policy interface {
	Info() Info
	Rank(ctx context.Context, in *RankInput) ([]RankAnswer, error)
	Consolidate(ctx context.Context, in *ConsolidateInput) ([]ConsolidateAnswer, error)
	Ceiling(ctx context.Context, in *CeilingInput) (CeilingAnswer, error)
}

// ErrNoOpinion is the answer of a policy that leaves the question to others.
var ErrNoOpinion = errors.New("no opinion")

// Call is what every question carries: the decision's own clock and seed, the
// only time and randomness a policy gets.
type Call struct {
	Time       time.Time
	Seed       uint64
	Generation uint64
}

// FaultKind classifies what went wrong inside a policy.
type FaultKind string

// The fault kinds.
const (
	FaultTrap     FaultKind = "Trap"
	FaultFuel     FaultKind = "Fuel"
	FaultDepth    FaultKind = "Depth"
	FaultDeadline FaultKind = "Deadline"
	FaultMemory   FaultKind = "Memory"
	FaultBadReply FaultKind = "BadReply"
	FaultInternal FaultKind = "Internal"
	// FaultTripped: the breaker is open, the policy was not asked.
	FaultTripped FaultKind = "Tripped"
)

// Fault is an answer that cannot be used. It is data, handled by the policy's
// failure policy, and never a reason for the controller to stop.
type Fault struct { //nolint:errname // the contract calls it a fault
	Kind    FaultKind
	Message string
}

// Error implements error.
func (f *Fault) Error() string { return string(f.Kind) + ": " + f.Message }

// FailureFor is the failure policy in force for a hook.
func (i *Info) FailureFor(h Hook) FailurePolicy {
	if i.Failure != "" {
		return i.Failure
	}
	if h == HookRank {
		return Ignore
	}
	return Fail
}

// Answers says whether the policy has the hook.
func (i *Info) Answers(h Hook) bool {
	return slices.Contains(i.Hooks, h)
}
