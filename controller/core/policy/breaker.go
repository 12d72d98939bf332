package policy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// The breaker opens after breakerFaults faults in a row. It stays open for
// breakerFirst the first time and never longer than breakerMost.
const (
	breakerFaults = 3
	breakerFirst  = time.Second
	breakerMost   = 5 * time.Minute
)

// Breaker stops asking a policy that fails repeatedly, and counts its calls. Its
// clock is the decisions' time, so that a replay behaves the same. The zero value is
// closed. It is safe for concurrent use.
type Breaker struct {
	mu      sync.Mutex
	row     int
	pause   time.Duration
	retryAt time.Time
	stats   Stats
}

// Ask runs one call of the policy at the decision's time now, unless the breaker is
// open. An error that the caller caused, such as a cancelled context, does not count
// as a fault.
func (b *Breaker) Ask(now time.Time, call func() error) error {
	if err := b.enter(now); err != nil {
		return err
	}
	err := call()
	b.leave(now, err)
	return err
}

// Fuel records the fuel that a call used.
func (b *Breaker) Fuel(used uint64) {
	b.mu.Lock()
	b.stats.FuelHigh = max(b.stats.FuelHigh, used)
	b.mu.Unlock()
}

// Stats returns the counters so far.
func (b *Breaker) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.stats
	s.Tripped = b.row >= breakerFaults
	return s
}

func (b *Breaker) enter(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.row >= breakerFaults && now.Before(b.retryAt) {
		return &Fault{Kind: FaultTripped, Message: fmt.Sprintf("off until %s after %d faults in a row, the last: %s",
			b.retryAt.UTC().Format(time.RFC3339), b.row, b.stats.LastFault)}
	}
	b.stats.Calls++
	return nil
}

func (b *Breaker) leave(now time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil || errors.Is(err, ErrNoOpinion) {
		b.row, b.pause = 0, 0
		return
	}
	var fault *Fault
	if !errors.As(err, &fault) || errors.Is(err, context.Canceled) {
		return
	}
	b.stats.Faults++
	b.stats.LastFault = fault.Error()
	if fault.NotAsked {
		return
	}
	b.row++
	if b.row >= breakerFaults {
		b.pause = min(max(2*b.pause, breakerFirst), breakerMost)
		b.retryAt = now.Add(b.pause)
	}
}
