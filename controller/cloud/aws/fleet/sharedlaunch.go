package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"spokeshave.dev/controller/cloud/aws/batch"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/provider"
)

// How long a claim waits in one call for the others that share its request, and how long
// after the first call an absent one is given up.
const (
	arrivalWait  = 2 * time.Second
	arrivalGrace = 30 * time.Second
)

// sharedLaunch is one CreateFleet request that several claims share. It asks for as many
// instances as there are claims, so it may be sent only when every claim has written it
// down: a claim that has not would start another attempt, and its share would be an
// instance too many. Calling Launch says that it is written.
// (docs/adr, "One fleet for many claims")
type sharedLaunch struct {
	token  string
	claims []string
	// ordinal is the number of the attempt, the same for all claims.
	ordinal int
	// begun is when this process first heard of the request. made says that it prepared it
	// itself, so that nothing was sent before.
	begun time.Time
	made  bool
	writtenRequest

	mu      sync.Mutex
	arrived map[string]bool
	// ready is closed when all have arrived or the request is known to have been
	// sent before; void when a claim has left for another attempt.
	ready, void chan struct{}
	settled     bool // one of the two is closed
	// flight is the call under way; failure is of one that is repeated.
	flight  chan struct{}
	failure error
	outcome outcome
	// looked is when claims and EC2 were asked last what became of the request.
	looked time.Time
}

// writtenRequest is the request as the claims have written it down, and what it says: each
// claim's copy is the same text, which is read once.
type writtenRequest struct {
	recorded json.RawMessage
	decoded  *ec2.CreateFleetInput
}

// outcome is what a shared launch has led to: nil by claim until it is final, and since when
// it is.
type outcome struct {
	byClaim map[string]batch.Answer[provider.Instance]
	since   time.Time
}

// request is what a claim's copy of the attempt says.
func (s *sharedLaunch) request(attempt *provider.Attempt) (*ec2.CreateFleetInput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.decoded != nil && bytes.Equal(s.recorded, attempt.Request) && slices.Equal(s.claims, attempt.Claims) {
		return s.decoded, owned(attempt)
	}
	in, err := decode(attempt)
	if err != nil {
		return nil, err
	}
	s.recorded, s.decoded = attempt.Request, in
	return in, nil
}

// release lets the request be sent, dissolve never lets it. The first of them counts, and so
// does the last claim to arrive: void reports what holds.
func (s *sharedLaunch) release() (void bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decide(s.ready)
	return s.isVoid()
}

func (s *sharedLaunch) dissolve() (void bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decide(s.void)
	return s.isVoid()
}

func (s *sharedLaunch) decide(which chan struct{}) {
	if !s.settled {
		s.settled = true
		close(which)
	}
}

func (s *sharedLaunch) isVoid() bool {
	select {
	case <-s.void:
		return true
	default:
		return false
	}
}

// arrive notes a claim and waits for the rest. Nil means that the request may
// be sent.
func (s *sharedLaunch) arrive(ctx context.Context, claim string) error {
	s.mu.Lock()
	s.arrived[claim] = true
	if len(s.arrived) == len(s.claims) {
		s.decide(s.ready)
	}
	s.mu.Unlock()
	wait, cancel := context.WithTimeout(ctx, arrivalWait)
	defer cancel()
	select {
	case <-s.ready:
		return nil
	case <-s.void:
		return client.Refuse(provider.Stale, "launch %s: another claim of the same request has gone; nothing was launched", claim)
	case <-wait.Done():
	}
	if ctx.Err() != nil {
		return client.Refuse(provider.Unavailable, "launch %s: %w", claim, ctx.Err())
	}
	return errAbsent
}

var errAbsent = client.Refuse(provider.Unavailable, "waiting for the other claims of the same request")

// absent returns the claims that have not come.
func (s *sharedLaunch) absent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, c := range s.claims {
		if !s.arrived[c] {
			out = append(out, c)
		}
	}
	return out
}

// first names the first few of the claims: the text goes into the condition of every other
// claim of the launch.
func first(claims []string) string {
	if more := len(claims) - 3; more > 0 {
		return fmt.Sprintf("%s, %d more", strings.Join(claims[:3], ", "), more)
	}
	return strings.Join(claims, ", ")
}

// answered returns the claim's part of the outcome, once there is one.
func (s *sharedLaunch) answered(claim string) (batch.Answer[provider.Instance], bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.outcome.byClaim[claim]
	return a, ok
}

// isOver reports whether the launch need not be remembered any more.
func (s *sharedLaunch) isOver(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outcome.byClaim != nil {
		return now.Sub(s.outcome.since) > outcomeKept
	}
	return now.Sub(s.begun) > launchKept
}

// conclude keeps what a call has led to. After a final outcome the request is not needed any
// more, which takes far more memory.
func (s *sharedLaunch) conclude(byClaim map[string]batch.Answer[provider.Instance], failure error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outcome, s.failure = outcome{byClaim, now}, failure
	if byClaim != nil {
		s.recorded, s.decoded = nil, nil
	}
	close(s.flight)
	s.flight = nil
}

// share runs do once for all who come while it runs, and keeps a final outcome.
func (s *sharedLaunch) share(ctx context.Context, claim string, clock func() time.Time, do func(context.Context) (map[string]batch.Answer[provider.Instance], error)) (provider.Instance, error) {
	s.mu.Lock()
	if known := s.outcome.byClaim; known != nil {
		defer s.mu.Unlock()
		return known[claim].Value, known[claim].Err
	}
	flight := s.flight
	if flight == nil {
		flight = make(chan struct{})
		s.flight = flight
		go func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, 2*client.FleetTimeout(len(s.claims)))
			defer cancel()
			byClaim, err := do(ctx)
			s.conclude(byClaim, err, clock())
		}(context.WithoutCancel(ctx))
	}
	s.mu.Unlock()
	select {
	case <-flight:
	case <-ctx.Done():
		return provider.Instance{}, client.Refuse(provider.Unavailable, "launch %s: %w", claim, ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.outcome.byClaim
	if known == nil {
		return provider.Instance{}, fmt.Errorf("launch %s: %w", claim, s.failure)
	}
	return known[claim].Value, known[claim].Err
}

// assign maps instances to claims: both sorted, so that every answer to the
// same request, replayed or not, gives each claim the same instance.
func assign(claims []string, started []provider.Instance) map[string]provider.Instance {
	claims = slices.Sorted(slices.Values(claims))
	slices.SortFunc(started, func(a, b provider.Instance) int {
		return cmp.Compare(instances.IDOf(&a), instances.IDOf(&b))
	})
	out := map[string]provider.Instance{}
	for i, claim := range claims {
		if i < len(started) {
			out[claim] = started[i]
		}
	}
	return out
}
