package refresh

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// readWithin bounds one reading of a source, with all its pages and repeated calls.
	readWithin = 5 * time.Minute
	// retryAfter is the pause after a reading that failed.
	retryAfter = 5 * time.Minute
	// staleReadings is how many readings in a row have to be missed until a source counts
	// as stale; staleAfter is the least time without an answer.
	staleReadings = 2
	staleAfter    = 10 * time.Minute
)

// Source is one thing that AWS is asked for. What and Every are needed, and Read unless the
// source is noted only (see Sources.Note).
type Source struct {
	// What names the source in logs, events and metrics.
	What string
	// Every is the time from one successful reading to the next.
	Every time.Duration
	// Read asks AWS and keeps the answer; changed is false when there was nothing to ask.
	// After an error the previous answer stays in force.
	Read func(ctx context.Context) (changed bool, err error)

	// asking is held while the source is read.
	asking sync.Mutex

	mu sync.Mutex
	// due is when to read again; zero is now.
	due time.Time
	// read is when the last successful reading began, zero for never; first is when the
	// first reading of all began.
	read, first time.Time
	failure     error
}

// Stale says of a source that its answer is older than it should be.
type Stale struct {
	What string
	// Read is when it was read last, zero for never.
	Read time.Time
	// Failure is why the last reading failed.
	Failure error
}

// String describes the state for people.
func (s *Stale) String() string {
	since := "have never been read from AWS"
	if !s.Read.IsZero() {
		since = "have not been read from AWS since " + s.Read.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s %s: %v", s.What, since, s.Failure)
}

// ask reads the source when it is due. It says whether there is a new answer, and what went
// wrong.
func (s *Source) ask(ctx context.Context, clock func() time.Time) (changed bool, failure error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	begun := clock()
	s.mu.Lock()
	due := s.due
	if s.first.IsZero() {
		s.first = begun
	}
	s.mu.Unlock()
	if begun.Before(due) {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	if changed, failure = s.Read(ctx); failure != nil {
		changed = false
	}
	s.note(begun, clock(), failure)
	return changed, failure
}

// note keeps the outcome of a reading, and when the next is due.
func (s *Source) note(begun, ended time.Time, failure error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first.IsZero() {
		s.first = begun
	}
	s.failure = failure
	if failure != nil {
		s.due = ended.Add(min(retryAfter, s.Every))
		return
	}
	s.read, s.due = begun, begun.Add(s.Every)
}

// since is when the last successful reading began, zero for never.
func (s *Source) since() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read
}

// next is when the source is due, never before now.
func (s *Source) next(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.due.Before(now) {
		return now
	}
	return s.due
}

// stale is the state of a source that failed and whose answer is older than two readings
// should be apart; nil for others.
func (s *Source) stale(now time.Time) *Stale {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.read
	if since.IsZero() {
		since = s.first
	}
	if s.failure == nil || now.Sub(since) < max(staleReadings*s.Every, staleAfter) {
		return nil
	}
	return &Stale{What: s.What, Read: s.read, Failure: s.failure}
}
