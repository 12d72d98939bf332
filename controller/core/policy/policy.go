// Package policy defines how users' policies take part in a decision: the interface
// that an engine implements, the questions and answers, and the rules that combine
// several answers into one.
//
// A policy can only remove, reorder or refuse. No answer can place a pod where its
// constraints forbid it.
//
// The engines are in controller/policy/wasm and controller/policy/rego, the wire
// formats in controller/policy/wire, and the loader in controller/policy/load.
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

// Mode says whether a policy's answers take effect.
type Mode string

// The modes.
const (
	Enforce Mode = "Enforce"
	// Shadow policies are asked and their answers recorded, without any effect.
	Shadow Mode = "Shadow"
)

// FailurePolicy says what happens when a policy fails to answer.
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
	// Guards is true when the ceiling hook may refuse launches. Its earlier caps
	// then cannot replace a failed review. The engine derives it from the code: it
	// is false only when no answer can contain a refusal.
	Guards bool
}

// Policy is a compiled policy. Implementations are safe for concurrent use. They
// return a *Fault for any failure inside the policy, and ErrNoOpinion when the
// policy declines to answer. A hook that Info does not list is never called.
type Policy interface {
	Info() Info
	Rank(ctx context.Context, in *RankInput) ([]RankAnswer, error)
	Consolidate(ctx context.Context, in *ConsolidateInput) ([]ConsolidateAnswer, error)
	Ceiling(ctx context.Context, in *CeilingInput) (CeilingAnswer, error)
}

// ErrNoOpinion is returned by a policy that declines to answer a question.
var ErrNoOpinion = errors.New("no opinion")

// Call is part of every question: the decision's time and seed, which are the only
// time and randomness that a policy gets.
type Call struct {
	Time       time.Time
	Seed       uint64
	Generation uint64
}

// FaultKind classifies a failure inside a policy.
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
	// FaultTripped means that the breaker is open and the policy was not asked.
	FaultTripped FaultKind = "Tripped"
)

// Fault is a failure of a policy to give a usable answer. The policy's FailurePolicy
// says what follows; the controller itself continues.
type Fault struct { //nolint:errname // the contract calls it a fault
	Kind    FaultKind
	Message string
	// NotAsked is set when the policy was not asked, for a reason that is not its own, such as
	// another policy that has ended their process. The breaker does not open for such faults.
	NotAsked bool
}

// Error implements error.
func (f *Fault) Error() string { return string(f.Kind) + ": " + f.Message }

// FailureFor returns the failure policy in force for a hook.
func (i *Info) FailureFor(h Hook) FailurePolicy {
	if i.Failure != "" {
		return i.Failure
	}
	if h == HookRank {
		return Ignore
	}
	return Fail
}

// Answers reports whether the policy has the hook.
func (i *Info) Answers(h Hook) bool {
	return slices.Contains(i.Hooks, h)
}
