package fleet

import (
	"sync"
	"time"

	"spokeshave.dev/controller/cloud/provider"
)

// How long a shared launch is remembered with the attempts that its claims were given: from
// its beginning while it has no final outcome, and from its outcome on, for claims that could
// not write theirs and ask again. A claim is given up when it is not launched within five
// minutes. One that repeats an attempt later gets the same instance from EC2, by the
// request's token.
const (
	launchKept  = 10 * time.Minute
	outcomeKept = time.Minute
)

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
	s.dropOldLocked(now)
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

// dropOldLocked forgets the shared launches that are not asked for any more, and the attempts
// that are part of them.
func (s *sharedLaunches) dropOldLocked(now time.Time) {
	for token, l := range s.byToken {
		if l.isOver(now) {
			delete(s.byToken, token)
		}
	}
	for id := range s.preparedAttempts {
		if s.byToken[s.preparedAttempts[id].attempt.Token] == nil {
			delete(s.preparedAttempts, id)
		}
	}
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
		s.preparedAttempts[m.memberID] = preparedAttempt{request: m.request, attempt: m.attempt}
	}
}

// preparedFor is the attempt that a claim was given before for the same request. A claim
// that now wants something else has not written it down, and leaves the shared launch.
func (s *sharedLaunches) preparedFor(id memberID, request string, now time.Time) (provider.Attempt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropOldLocked(now)
	p, ok := s.preparedAttempts[id]
	if !ok {
		return provider.Attempt{}, false
	}
	known := s.byToken[p.attempt.Token]
	if p.request == request && !known.isVoid() {
		return p.attempt, true
	}
	delete(s.preparedAttempts, id)
	known.dissolve()
	return provider.Attempt{}, false
}
