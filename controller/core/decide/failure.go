package decide

import (
	"context"
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/crash"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// FailureKind is how a part of a decision failed.
type FailureKind string

// The kinds of failures. Each is a defect in this program.
const (
	// Unproven: the checker rejected a plan.
	Unproven FailureKind = "Unproven"
	// Panicked: the code panicked.
	Panicked FailureKind = "Panic"
	// Errored: Decide returned an error.
	Errored FailureKind = "Error"
)

// Part is the part of a decision that failed.
type Part string

// The parts. Nothing is disrupted by a decision whose disruption failed; commands under
// way wait.
const (
	Provisioning Part = "provisioning"
	Disrupting   Part = "disruption"
)

// Failure is a defect that a decision met and went on without.
type Failure struct {
	Kind    FailureKind `json:"kind"`
	Part    Part        `json:"part"`
	Message string      `json:"message"`
	// Pods index Snapshot.Pods: those that were left out because of the failure.
	Pods []int32 `json:"pods,omitempty"`
	// Stack is the stack of a panic. It differs between runs and is not recorded with
	// the decision.
	Stack string `json:"-"`
}

// String is the failure in one line.
func (f *Failure) String() string { return fmt.Sprintf("%s of %s: %s", f.Kind, f.Part, f.Message) }

func (f *Failure) warning() string { return f.String() + ": this is a defect in Spokeshave" }

// Try is Decide for a caller that has to go on when Decide fails. It makes the decision
// again without the part that failed: without the search for a cheaper cluster, then
// without any disruption, then without the pods that make it fail, which get the reason
// HeldBack. Decision.Failures has what failed. When nothing can be decided, the
// decision's ID is empty. Try is a function of its input like Decide.
func Try(ctx context.Context, s *model.Snapshot, policies []policy.Policy, opts Options) Decision {
	var failures []Failure
	for {
		d, failed := attempt(ctx, s, policies, opts)
		if failed == nil {
			return d.after(failures)
		}
		failures = append(failures, *failed)
		switch {
		case failed.Part == Disrupting && opts.Search:
			opts.Search = false
		case failed.Part == Disrupting && opts.Disrupt:
			opts.Disrupt = false
		default:
			opts.Disrupt, opts.Search = false, false
			i := isolation{ctx: ctx, s: s, policies: policies, opts: opts, kept: map[int32]bool{}, left: maxAttempts}
			d, left := i.run()
			failures[len(failures)-1].Pods = left
			d.Time = s.Time
			return d.after(failures)
		}
	}
}

// after adds the failures of earlier attempts to the decision, with a warning each.
func (d *Decision) after(failures []Failure) Decision {
	for i := range failures {
		d.Warnings = append(d.Warnings, failures[i].warning())
	}
	d.Failures = append(failures, d.Failures...)
	return *d
}

// attempt makes the decision, and recovers from a panic.
func attempt(ctx context.Context, s *model.Snapshot, policies []policy.Policy, opts Options) (Decision, *Failure) {
	d := newDecider(s, policies, opts)
	err := crash.Do(func() error { return d.run(ctx) })
	switch stack := crash.Stack(err); {
	case err == nil:
		return d.out, nil
	case stack != "":
		return Decision{}, &Failure{Kind: Panicked, Part: d.part, Message: err.Error(), Stack: stack}
	default:
		return Decision{}, &Failure{Kind: Errored, Part: d.part, Message: err.Error()}
	}
}

// maxAttempts is how many decisions Try makes at most to find the pods that make it fail:
// one of a thousand kinds of pods takes about twenty.
const maxAttempts = 64

// isolation looks for the pods with which a decision fails, by their specs: pods with
// the same spec are one question to the solver.
type isolation struct {
	ctx      context.Context //nolint:containedctx // for the length of one call
	s        *model.Snapshot
	policies []policy.Policy
	opts     Options

	// kept are the specs with which a decision was made; decision is the last one.
	kept     map[int32]bool
	decision Decision
	// left is how many more decisions may be tried.
	left int
}

// run returns the decision without the pods that make it fail, and those pods. The
// decision is empty when it fails without any pods.
func (i *isolation) run() (Decision, []int32) {
	var specs []int32
	for _, p := range i.pending() {
		specs = append(specs, i.s.Pods[p].Spec)
	}
	slices.Sort(specs)
	if i.try(nil) {
		i.add(slices.Compact(specs))
	}
	if i.decision.ID == "" {
		return Decision{}, nil
	}
	return i.decision, slices.DeleteFunc(i.pending(), func(p int32) bool { return i.kept[i.s.Pods[p].Spec] })
}

func (i *isolation) pending() []int32 { return newDecider(i.s, nil, i.opts).pending }

// add keeps those of the specs with which a decision can be made.
func (i *isolation) add(specs []int32) {
	if len(specs) == 0 || i.try(specs) || len(specs) == 1 || i.left == 0 {
		return
	}
	half := len(specs) / 2
	i.add(specs[:half])
	i.add(specs[half:])
}

// try makes a decision about the pods with the kept specs and some more, and keeps those
// if it does not fail.
func (i *isolation) try(more []int32) bool {
	if i.left == 0 {
		return false
	}
	i.left--
	s := *i.s
	s.Pods = slices.Clone(i.s.Pods)
	for _, p := range i.pending() {
		if spec := s.Pods[p].Spec; !i.kept[spec] && !slices.Contains(more, spec) {
			s.Pods[p].Held = &model.Reason{Code: model.HeldBack, Message: "planning for the pod failed, which is a defect in Spokeshave; other pods are planned"}
		}
	}
	d, failed := attempt(i.ctx, &s, i.policies, i.opts)
	if failed != nil {
		return false
	}
	i.decision = d
	for _, spec := range more {
		i.kept[spec] = true
	}
	return true
}
