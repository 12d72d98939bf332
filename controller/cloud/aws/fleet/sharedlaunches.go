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
// request's token. An attempt of a single claim is remembered for ownKept: until the caller's cache
// of claims shows that it is written.
const (
	launchKept  = 10 * time.Minute
	outcomeKept = time.Minute
	ownKept     = time.Minute
)

// sharedLaunches knows the shared launches of the last minutes, and which claim was given
// which attempt.
type sharedLaunches struct {
	mu      sync.Mutex
	byToken map[string]*sharedLaunch
	// preparedAttempts are the attempts that claims were given last.
	preparedAttempts map[memberID]preparedAttempt
}

// preparedAttempt is the attempt that a claim was given for a request, and when.
type preparedAttempt struct {
	request string
	attempt provider.Attempt
	since   time.Time
}

func (p *preparedAttempt) shared() bool { return len(p.attempt.Claims) > 1 }

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
		token: attempt.Token, claims: attempt.Claims, ordinal: attempt.Ordinal, begun: now, made: made,
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
	for id, p := range s.preparedAttempts {
		if p.shared() && s.byToken[p.attempt.Token] == nil || !p.shared() && now.Sub(p.since) > ownKept {
			delete(s.preparedAttempts, id)
		}
	}
}

// rememberPrepared remembers which attempt members were given: all of them the same.
func (s *sharedLaunches) rememberPrepared(members []*member, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.preparedAttempts == nil {
		s.preparedAttempts = map[memberID]preparedAttempt{}
	}
	if len(members) > 1 {
		s.findLocked(&members[0].attempt, now, true)
	}
	for _, m := range members {
		s.preparedAttempts[m.memberID] = preparedAttempt{request: m.request, attempt: m.attempt, since: now}
	}
}

// preparedFor is the attempt that a claim was given before for the same request. A claim
// that now wants something else has not written it down, and leaves the shared launch. One that has
// written it down may ask as well, while its caller's cache of claims does not show that.
func (s *sharedLaunches) preparedFor(id memberID, request string, now time.Time) (provider.Attempt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropOldLocked(now)
	p, ok := s.preparedAttempts[id]
	if !ok {
		return provider.Attempt{}, false
	}
	void := p.shared() && s.byToken[p.attempt.Token].isVoid()
	if p.request == request && !void {
		return p.attempt, true
	}
	s.leaveLocked(id, p)
	return provider.Attempt{}, false
}

// launchedBy notes that a claim is launched by an attempt with the token. If it was given another one
// last, it has not written that down and never will, and leaves the shared launch.
func (s *sharedLaunches) launchedBy(id memberID, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.preparedAttempts[id]; ok && p.attempt.Token != token {
		s.leaveLocked(id, p)
	}
}

// leaveLocked takes a claim out of the shared launch of the attempt that it was given, which then is
// never sent.
func (s *sharedLaunches) leaveLocked(id memberID, p preparedAttempt) {
	delete(s.preparedAttempts, id)
	if known := s.byToken[p.attempt.Token]; known != nil {
		known.dissolve()
	}
}
