package isolate

import (
	"fmt"
	"strings"
	"time"

	"spokeshave.dev/controller/core/policy"
)

// death says how a process ended that should have answered.
type death struct {
	kind policy.FaultKind
	// stage is what the process was doing, "" if it did not say.
	stage string
	// stages is set when all stages together took longer than they may.
	stages bool
	// cpu is the processor time that it had used in all.
	cpu time.Duration
	// killed is true when a signal has ended it that cannot be caught, and not this end's.
	killed bool
	// detail is what the Go runtime or the kernel said.
	detail string
}

// complaint begins what the process says when it ends by itself.
const complaint = "policy process:"

// Error implements error.
func (d *death) Error() string {
	return fmt.Sprintf("the process of policies ended: %s (%s)", d.kind, d.detail)
}

// death reads why the process has ended. It must have.
func (p *process) death() error {
	state := p.cmd.ProcessState
	// Out of memory the Go runtime ends in several ways: with that text, with another
	// one, or by a signal. So does what has too deep a stack.
	d := &death{kind: policy.FaultMemory, stage: p.stage, cpu: state.UserTime() + state.SystemTime()}
	said, _, _ := strings.Cut(string(p.stderr.text), "\n")
	d.detail = strings.TrimSuffix(state.String()+": "+said, ": ")
	p.mu.Lock()
	defer p.mu.Unlock()
	d.killed = p.cause == causeItself && strings.HasPrefix(state.String(), "signal: killed")
	d.stages = p.cause == causeStages
	switch {
	case p.cause == causeDeadline || d.stages:
		d.kind = policy.FaultDeadline
	case strings.HasPrefix(said, complaint):
		d.kind = policy.FaultInternal
	}
	return d
}
