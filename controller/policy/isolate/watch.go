package isolate

import (
	"sync"
	"time"
)

// Time is measured in ticks. A controller that gets no processor time for a while
// counts that as one tick, so that a busy machine does not make a policy look slow.
const ticks = 25

// watch ends a process after a time.
type watch struct {
	process *process
	tick    time.Duration

	mu    sync.Mutex
	timer *time.Timer
	left  int
	// stages is how many ticks the stages before the last may still have taken in all.
	stages int
	over   bool
}

func (p *process) watch(limit time.Duration) *watch {
	w := &watch{process: p, tick: max(limit/ticks, time.Millisecond), left: ticks}
	w.stages = int(p.stages / w.tick)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.tick, w.look)
	return w
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	if w.left--; w.left > 0 {
		w.timer.Reset(w.tick)
		return
	}
	w.over = true
	w.process.kill(causeDeadline)
}

// again starts the time anew, for the next stage. Once all stages have taken as long as they may, it
// ends the process.
func (w *watch) again() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stages -= ticks - w.left; w.stages >= 0 || w.over {
		w.left = ticks
		return
	}
	w.over = true
	w.process.kill(causeStages)
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}
