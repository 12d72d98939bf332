package isolate

import (
	"errors"
	"fmt"
	"time"

	"spokeshave.dev/controller/core/policy"
)

// attempt is what a process was started for: its wall time limit, what it is called before
// it has named a stage, and what an author looks for when it has ended.
type attempt struct {
	limit          time.Duration
	doing, advice  string
	limitIsOfStage bool
}

func (e *Engine) trial(limit time.Duration) attempt {
	return attempt{
		limit: limit, limitIsOfStage: limit == e.cfg.stage, doing: "loading",
		advice: "look for values that double from line to line, products of long lists and very long texts",
	}
}

// refused counts a policy that has ended its process, and words the error for its
// author: what happened, while doing what, and what to do. The kind is FaultDeadline if
// another attempt may succeed.
func (e *Engine) refused(info *policy.Info, err error, a attempt) error {
	if u := (*unstarted)(nil); errors.As(err, &u) {
		return &refusal{text: err.Error(), fault: policy.Fault{Kind: policy.FaultDeadline}}
	}
	var d *death
	if !errors.As(err, &d) {
		return err
	}
	doing := d.stage
	if doing == "" {
		doing = a.doing
	}
	if d.killed && d.cpu < e.cfg.cpu/10*9 { // neither by this end nor by the limit of processor time
		return &refusal{
			text:  fmt.Sprintf("%s: its process was killed by another (%s): the machine may be out of memory", doing, d.detail),
			fault: policy.Fault{Kind: policy.FaultDeadline},
		}
	}
	kind, what := d.kind, ""
	switch d.kind { //nolint:exhaustive // the others have one text
	case policy.FaultDeadline:
		what = fmt.Sprintf("took longer than %s", a.limit)
		if d.stages {
			what = fmt.Sprintf("took longer than %s with all that came before", e.cfg.trial)
		}
		if a.limitIsOfStage && d.cpu >= a.limit/2 { // not for want of a processor
			kind = policy.FaultTrap
		}
	case policy.FaultMemory:
		what = fmt.Sprintf("needed more memory or processor time than a policy may (%d MiB, %s: %s)", e.cfg.Memory>>20, e.cfg.cpu, d.detail)
	default:
		what = "ended its process: " + d.detail
	}
	if e.cfg.Events.Refused != nil {
		e.cfg.Events.Refused(info, d.kind)
	}
	return &refusal{
		text:  fmt.Sprintf("%s: %s and was stopped; %s", doing, what, a.advice),
		fault: policy.Fault{Kind: kind},
	}
}

// refusal is an error with a text for the policy's author, and a kind.
type refusal struct {
	text  string
	fault policy.Fault
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

// Unwrap returns the fault.
func (r *refusal) Unwrap() error { return &r.fault }
