package isolate

import (
	"context"
	"sync"
	"time"

	"spokeshave.dev/controller/core/policy"
)

// errInterrupted is the error of a job that was ended in favour of the policies in force.
var errInterrupted = &refusal{
	text:  "compiling was interrupted, because policies in force had to be loaded again at once",
	fault: policy.Fault{Kind: policy.FaultDeadline},
}

// interruptAfter is how long policies in force wait for a job to end by itself.
const interruptAfter = 100 * time.Millisecond

// running ends the job that runs, if any. It is safe for concurrent use.
type running struct {
	mu  sync.Mutex
	end context.CancelCauseFunc
}

// arm returns the context of a job that begins, and what is called when it has ended.
func (r *running) arm(ctx context.Context) (job context.Context, disarm func()) {
	job, end := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = end
	return job, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.end = nil
		end(nil)
	}
}

func (r *running) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end != nil {
		r.end(errInterrupted)
	}
}

// hurry interrupts jobs, if policies in force wait for a process that is prepared for extra, until
// stop is called.
func (h *host) hurry(extra *compiled) (stop func()) {
	done := make(chan struct{})
	go func() {
		waits := time.NewTicker(interruptAfter) //nolint:forbidigo // not the decisions' time
		defer waits.Stop()
		for {
			select {
			case <-done:
				return
			case <-waits.C:
				if h.urgent(extra) {
					h.running.interrupt()
				}
			}
		}
	}()
	return func() { close(done) }
}

// urgent reports whether a process that is prepared for extra, nil for all policies, is one for
// which policies in force wait. A policy that has not been in force yet is not urgent.
func (h *host) urgent(extra *compiled) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return extra == nil || extra.awaited
}
