package fleet

import (
	"sync"
	"time"

	"spokeshave.dev/controller/cloud/provider"
)

// outcomeKept is how long attempts and the outcomes of shared launches are remembered. A
// claim is given up when it is not launched within five minutes. One that repeats an
// attempt later gets the same instance from EC2, by the request's token.
const outcomeKept = 10 * time.Minute

// sharedLaunches knows the shared launches of the last minutes, and which claim was given
// which attempt.
type sharedLaunches struct {
	mu      sync.Mutex
	byToken map[string]*sharedLaunch
	// preparedAttempts are the prepared attempts that are shared.
	preparedAttempts map[memberID]preparedAttempt
}

// preparedAttempt is the attempt that a claim was given for a request.
type preparedAttempt struct {
	request string
	attempt provider.Attempt
	until   time.Time
}

// find gives the shared launch of an attempt, and makes it when it is not known. made says
// that this process prepared it.
func (s *sharedLaunches) find(attempt *provider.Attempt, now time.Time, made bool) *sharedLaunch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findLocked(attempt, now, made)
}

func (s *sharedLaunches) findLocked(attempt *provider.Attempt, now time.Time, made bool) *sharedLaunch {
	if known, ok := s.byToken[attempt.Token]; ok {
		return known
	}
	for token, old := range s.byToken {
		if now.Sub(old.begun) > outcomeKept {
			delete(s.byToken, token)
		}
	}
	out := &sharedLaunch{
		token: attempt.Token, claims: attempt.Claims, begun: now, made: made,
		arrived: map[string]bool{}, ready: make(chan struct{}), void: make(chan struct{}),
	}
	if s.byToken == nil {
		s.byToken = map[string]*sharedLaunch{}
	}
	s.byToken[attempt.Token] = out
	return out
}

// rememberPrepared remembers which attempt members were given.
func (s *sharedLaunches) rememberPrepared(members []*member, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.preparedAttempts == nil {
		s.preparedAttempts = map[memberID]preparedAttempt{}
	}
	s.findLocked(&members[0].attempt, now, true)
	for _, m := range members {
		s.preparedAttempts[m.memberID] = preparedAttempt{request: m.request, attempt: m.attempt, until: now.Add(outcomeKept)}
	}
}

// preparedFor is the attempt that a claim was given before for the same request. A claim
// that now wants something else has not written it down, and leaves the shared launch.
func (s *sharedLaunches) preparedFor(id memberID, request string, now time.Time) (provider.Attempt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for old, p := range s.preparedAttempts {
		if !now.Before(p.until) {
			delete(s.preparedAttempts, old)
		}
	}
	p, ok := s.preparedAttempts[id]
	if !ok {
		return provider.Attempt{}, false
	}
	known := s.byToken[p.attempt.Token]
	if p.request == request && known != nil && !known.isVoid() {
		return p.attempt, true
	}
	delete(s.preparedAttempts, id)
	if known != nil {
		known.dissolve()
	}
	return provider.Attempt{}, false
}
