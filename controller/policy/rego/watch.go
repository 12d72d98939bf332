package rego

import (
	"context"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/topdown"

	"spokeshave.dev/controller/core/policy"
)

// A call's time is measured in ticks. A process that gets no processor time for a
// while counts that as one tick, so that a busy machine does not make a policy look
// slow.
const ticks = 25

// growth is how many bytes the process's heap may grow during a call that takes
// longer than a tick. It is exact where the process answers one call at a time and does
// nothing else (package isolate), and coarse in a program that does.
const growth = 128 << 20

const heapMetric = "/memory/classes/heap/objects:bytes"

// watch stops an evaluation that uses too much time or memory.
type watch struct {
	cancel topdown.Cancel
	tick   time.Duration
	memory uint64

	mu     sync.Mutex
	timer  *time.Timer
	over   bool
	gone   int
	heap   uint64
	struck policy.FaultKind
}

// start begins to watch a call.
func (p *Policy) start(ctx context.Context, cancel topdown.Cancel) (w *watch, stop func()) {
	w = &watch{cancel: cancel, tick: max(p.deadline/ticks, time.Millisecond), memory: p.memory}
	w.mu.Lock()
	w.timer = time.AfterFunc(w.tick, w.look)
	w.mu.Unlock()
	release := context.AfterFunc(ctx, cancel.Cancel)
	return w, func() {
		release()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.over = true
		w.timer.Stop()
	}
}

// look runs once per tick.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	sample := []metrics.Sample{{Name: heapMetric}}
	metrics.Read(sample)
	heap := sample[0].Value.Uint64()
	if w.gone == 0 || heap < w.heap {
		w.heap = heap
	}
	w.gone++
	switch {
	case heap-w.heap > w.memory:
		w.struck = policy.FaultMemory
	case w.gone >= ticks:
		w.struck = policy.FaultDeadline
	default:
		w.timer.Reset(w.tick)
		return
	}
	w.over = true
	w.cancel.Cancel()
}

// reason returns why the call was stopped, "" if it was not.
func (w *watch) reason() policy.FaultKind {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.struck
}
