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
	// cpu is the processor time that it had used in all.
	cpu time.Duration
	// detail is what the Go runtime or the kernel said.
	detail string
}

// Error implements error.
func (d *death) Error() string {
	return fmt.Sprintf("the process of policies ended: %s (%s)", d.kind, d.detail)
}

// death reads why the process has ended. It must have.
func (p *process) death() error {
	state := p.cmd.ProcessState
	d := &death{kind: policy.FaultInternal, stage: p.stage, cpu: state.UserTime() + state.SystemTime()}
	said, _, _ := strings.Cut(string(p.stderr.text), "\n")
	d.detail = strings.TrimSpace(state.String() + ": " + said)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.cause == causeDeadline:
		d.kind = policy.FaultDeadline
	case strings.Contains(said, "out of memory"), strings.Contains(said, "cannot allocate memory"), strings.Contains(said, "stack exceeds"):
		d.kind = policy.FaultMemory
	case p.cause == causeItself && killed(state):
		// By the kernel: the limit of processor time, or the memory of the container.
		d.kind = policy.FaultMemory
	}
	return d
}
