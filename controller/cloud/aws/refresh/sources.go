package refresh

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

// Sources are all sources of a provider. Make it with New.
type Sources struct {
	all     []*Source
	clock   func() time.Time
	log     logr.Logger
	metrics *Metrics

	mu sync.Mutex
	// noted are sources beside all, which others read.
	noted []*Source
	// open counts the sources whose first reading has not ended; settled is closed when
	// there is none left.
	open    map[*Source]bool
	settled chan struct{}
}

// New makes Sources of the given ones. The metrics say of each that it was never read.
func New(clock func() time.Time, log logr.Logger, metrics *Metrics, all ...*Source) *Sources {
	s := &Sources{all: all, clock: clock, log: log, metrics: metrics, open: map[*Source]bool{}, settled: make(chan struct{})}
	for _, each := range all {
		s.open[each] = true
		metrics.updated(each.What, time.Unix(0, 0))
		metrics.told(each.What, nil)
	}
	return s
}

// All lists the sources.
func (s *Sources) All() []*Source { return s.all }

// Settled is closed once the first reading of every source has ended, well or not.
func (s *Sources) Settled() <-chan struct{} { return s.settled }

// Refresh reads every source that is due, one after the other. The error joins all
// failures.
func (s *Sources) Refresh(ctx context.Context) error {
	failures := make([]error, 0, len(s.all))
	for _, each := range s.all {
		_, err := s.ask(ctx, each)
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// Ask reads a source when it is due. It returns when to ask again, and whether there is a
// new answer.
func (s *Sources) Ask(ctx context.Context, source *Source) (next time.Time, changed bool) {
	changed, _ = s.ask(ctx, source) // logged, and asked again
	return source.next(s.clock()), changed
}

func (s *Sources) ask(ctx context.Context, source *Source) (bool, error) {
	changed, err := source.ask(ctx, s.clock)
	if err != nil && ctx.Err() == nil {
		s.log.Error(err, "keep what is known of the market", "what", source.What, "retry", source.next(s.clock()).UTC().Format(time.RFC3339))
	}
	s.record(source)
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.open, source); len(s.open) == 0 {
		select {
		case <-s.settled:
		default:
			close(s.settled)
		}
	}
	return changed, err
}

// Note keeps the outcome of a reading that has just been made elsewhere, of a source that is
// none of All.
func (s *Sources) Note(source *Source, begun time.Time, failure error) {
	s.mu.Lock()
	if !slices.Contains(s.noted, source) {
		s.noted = append(s.noted, source)
		s.metrics.updated(source.What, time.Unix(0, 0))
	}
	s.mu.Unlock()
	source.note(begun, s.clock(), failure)
	s.record(source)
}

// record shows the age of a source.
func (s *Sources) record(source *Source) {
	if at := source.since(); !at.IsZero() {
		s.metrics.updated(source.What, at)
	}
	s.metrics.told(source.What, source.stale(s.clock()))
}

// Stale are the sources whose answers are older than they should be.
func (s *Sources) Stale() []Stale {
	s.mu.Lock()
	every := slices.Concat(s.all, s.noted)
	s.mu.Unlock()
	var out []Stale
	for _, each := range every {
		if one := each.stale(s.clock()); one != nil {
			out = append(out, *one)
		}
	}
	return out
}
