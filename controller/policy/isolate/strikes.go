package isolate

import (
	"fmt"
	"sync"
	"time"

	"spokeshave.dev/controller/core/policy"
)

// A policy that has ended its process this often is not asked for strikePause, twice as
// long the next time, and never longer than strikeMost. Answers in between change
// nothing, unlike with policy.Breaker: each new process costs all policies time. It
// starts anew when the policy has answered strikeForget after the last time.
const (
	strikesAllowed = 3
	strikePause    = time.Second
	strikeMost     = 5 * time.Minute
	strikeForget   = 15 * time.Minute
)

// strikes counts how often a policy has ended its process. Its clock is the decisions'
// time. It is safe for concurrent use.
type strikes struct {
	mu      sync.Mutex
	n       int
	all     uint64
	last    time.Time
	retryAt time.Time
	// answered is true when the policy has answered since the last time.
	answered bool
}

func (s *strikes) count(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	s.all++
	s.last, s.answered = now, false
	if over := s.n - strikesAllowed; over >= 0 {
		s.retryAt = now.Add(min(strikePause<<min(over, 20), strikeMost))
	}
}

// enter returns a fault while the policy is off.
func (s *strikes) enter(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n < strikesAllowed || !now.Before(s.retryAt) {
		return nil
	}
	return &policy.Fault{Kind: policy.FaultTripped, Message: fmt.Sprintf(
		"off until %s: it has ended the process of policies %d times", s.retryAt.UTC().Format(time.RFC3339), s.n)}
}

// leave is called when the policy's process has survived a question.
func (s *strikes) leave(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered = true
	if s.n > 0 && now.Sub(s.last) >= strikeForget {
		s.n = 0
	}
}

// total returns how often the policy has ended its process since it was compiled.
func (s *strikes) total() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

func (s *strikes) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n > 0
}

// open reports whether the policy is off, or will be asked next to see whether it still
// does so.
func (s *strikes) open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n >= strikesAllowed && !s.answered
}
