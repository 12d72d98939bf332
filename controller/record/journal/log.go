package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/go-logr/logr"

	"spokeshave.dev/controller/core/crash"
)

// waiting is how many decisions may wait to be written. Further ones are dropped and
// counted, so that a slow disk does not delay the decision loop.
const waiting = 16

// Log writes decisions as JSON lines. It encodes them outside the decision loop, since
// neither the snapshot nor the decision changes afterwards.
type Log struct {
	// To is where the lines go.
	To io.Writer
	// Inputs says to write the snapshot and the policies with each decision. Those of
	// decisions that failed are written in any case.
	Inputs bool
	// Namespace is the controller's own.
	Namespace string

	queue  chan Decided
	missed atomic.Int64
}

// NewLog prepares a log; the exported fields of l are set by the caller.
func NewLog(l *Log) *Log {
	l.queue = make(chan Decided, waiting)
	return l
}

// Add queues a decision to be written. It never blocks. A nil Log ignores it.
func (l *Log) Add(in Decided) {
	if l == nil {
		return
	}
	select {
	case l.queue <- in:
	default:
		l.missed.Add(1)
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (l *Log) NeedLeaderElection() bool { return true }

// Start writes queued decisions until the context ends, and then those that are still
// queued.
func (l *Log) Start(ctx context.Context) error {
	log := logr.FromContextOrDiscard(ctx).WithName("decision-log")
	write := func(in *Decided) {
		if err := crash.Do(func() error { return l.write(in) }); err != nil {
			l.missed.Add(1)
			log.Error(err, "a decision is not in the log", "decision", in.Decision.ID, "stack", crash.Stack(err))
		}
	}
	for {
		select {
		case in := <-l.queue:
			write(&in)
			continue
		case <-ctx.Done():
		}
		for {
			select {
			case in := <-l.queue:
				write(&in)
			default:
				return nil
			}
		}
	}
}

func (l *Log) write(in *Decided) error {
	r, err := NewRecord(in)
	if err != nil {
		return err
	}
	if l.Inputs || len(in.Decision.Failures) > 0 {
		if err := r.Keep(in, l.Namespace); err != nil {
			return err
		}
	}
	r.Missed = int(l.missed.Swap(0))
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode decision %s: %w", r.ID, err)
	}
	if _, err := l.To.Write(append(line, '\n')); err != nil {
		l.missed.Add(int64(r.Missed))
		return fmt.Errorf("write decision log: %w", err)
	}
	return nil
}
