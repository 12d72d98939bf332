package aws

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"spokeshave.dev/controller/cloud/provider"
)

// A party is the claims that share one CreateFleet request. The request asks
// for as many instances as there are claims, so it may be sent only when every
// claim has written it down: a claim that has not would start another attempt,
// and its share would be an instance too many. Calling Launch says that it is
// written. (docs/adr, "One fleet for many claims")

// How long a claim waits for the others of its party in one call, and how long
// after the first call an absent claim is given up.
const (
	partyWait  = 2 * time.Second
	partyGrace = 30 * time.Second
	// partyKept is how long the outcome of a party is remembered.
	partyKept = time.Hour
)

type party struct {
	token  string
	claims []string
	// begun is when this process first heard of the party. made says that it
	// prepared it itself, so that nothing was sent before.
	begun time.Time
	made  bool

	mu      sync.Mutex
	arrived map[string]bool
	// ready is closed when all have arrived or the request is known to have been
	// sent before; void when a claim has left for another attempt.
	ready, void chan struct{}
	settled     bool // one of the two is closed
	// flight is the call under way; outcome is by claim once it is final.
	flight  chan struct{}
	failure error
	outcome map[string]answer[provider.Instance]
	looked  time.Time
}

// parties knows those of the last hour, by token.
type parties struct {
	mu      sync.Mutex
	byToken map[string]*party
	// promised are the prepared attempts, by claim and ordinal.
	promised map[promiseKey]promise
}

type promiseKey struct {
	claim   string
	ordinal int
}

type promise struct {
	group   string
	attempt provider.Attempt
	until   time.Time
}

// find gives the party of an attempt, and makes it when it is not known.
func (ps *parties) find(attempt *provider.Attempt, now time.Time, made bool) *party {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if known, ok := ps.byToken[attempt.Token]; ok {
		return known
	}
	for token, old := range ps.byToken {
		if now.Sub(old.begun) > partyKept {
			delete(ps.byToken, token)
		}
	}
	out := &party{
		token: attempt.Token, claims: attempt.Claims, begun: now, made: made,
		arrived: map[string]bool{}, ready: make(chan struct{}), void: make(chan struct{}),
	}
	if ps.byToken == nil {
		ps.byToken = map[string]*party{}
	}
	ps.byToken[attempt.Token] = out
	return out
}

// promisedTo is the attempt that a claim was given before for the same group of
// requests. A claim that now wants something else has not written it down, and
// leaves the party.
func (ps *parties) promisedTo(key promiseKey, group string, now time.Time) (provider.Attempt, bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for old, p := range ps.promised {
		if !now.Before(p.until) {
			delete(ps.promised, old)
		}
	}
	p, ok := ps.promised[key]
	if !ok {
		return provider.Attempt{}, false
	}
	known := ps.byToken[p.attempt.Token]
	if p.group == group && known != nil && !known.isVoid() {
		return p.attempt, true
	}
	delete(ps.promised, key)
	if known != nil {
		known.dissolve()
	}
	return provider.Attempt{}, false
}

func (ps *parties) promise(key promiseKey, group string, attempt provider.Attempt, now time.Time) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.promised == nil {
		ps.promised = map[promiseKey]promise{}
	}
	ps.promised[key] = promise{group: group, attempt: attempt, until: now.Add(partyKept)}
}

// release lets the request be sent, dissolve never lets it. The first of them
// counts.
func (b *party) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.decide(b.ready)
}

func (b *party) dissolve() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.decide(b.void)
}

func (b *party) decide(which chan struct{}) {
	if !b.settled {
		b.settled = true
		close(which)
	}
}

func (b *party) isVoid() bool {
	select {
	case <-b.void:
		return true
	default:
		return false
	}
}

// arrive notes a claim and waits for the rest. Nil means that the request may
// be sent.
func (b *party) arrive(ctx context.Context, claim string) error {
	b.mu.Lock()
	b.arrived[claim] = true
	if len(b.arrived) == len(b.claims) {
		b.decide(b.ready)
	}
	b.mu.Unlock()
	wait, cancel := context.WithTimeout(ctx, partyWait)
	defer cancel()
	select {
	case <-b.ready:
		return nil
	case <-b.void:
		return refuse(provider.Stale, "launch %s: another claim of the same request has gone; nothing was launched", claim)
	case <-wait.Done():
	}
	if ctx.Err() != nil {
		return refuse(provider.Unavailable, "launch %s: %w", claim, ctx.Err())
	}
	return errAbsent
}

var errAbsent = refuse(provider.Unavailable, "waiting for the other claims of the same request")

// absent names the claims that have not come, the first few of them: the text
// goes into the condition of every other claim.
func (b *party) absent() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, c := range b.claims {
		if !b.arrived[c] {
			out = append(out, c)
		}
	}
	if more := len(out) - 3; more > 0 {
		out = append(out[:3], fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// share runs do once for all who come while it runs, and keeps a final outcome.
func (b *party) share(ctx context.Context, claim string, do func(context.Context) (map[string]answer[provider.Instance], error)) (provider.Instance, error) {
	b.mu.Lock()
	if b.outcome != nil {
		defer b.mu.Unlock()
		return b.outcome[claim].value, b.outcome[claim].err
	}
	flight := b.flight
	if flight == nil {
		flight = make(chan struct{})
		b.flight = flight
		go func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, 2*callTimeout)
			defer cancel()
			outcome, err := do(ctx)
			b.mu.Lock()
			defer b.mu.Unlock()
			b.outcome, b.failure, b.flight = outcome, err, nil
			close(flight)
		}(context.WithoutCancel(ctx))
	}
	b.mu.Unlock()
	select {
	case <-flight:
	case <-ctx.Done():
		return provider.Instance{}, refuse(provider.Unavailable, "launch %s: %w", claim, ctx.Err())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.outcome == nil {
		return provider.Instance{}, fmt.Errorf("launch %s: %w", claim, b.failure)
	}
	return b.outcome[claim].value, b.outcome[claim].err
}

// assign maps instances to claims: both sorted, so that every answer to the
// same request, replayed or not, gives each claim the same instance.
func assign(claims []string, instances []provider.Instance) map[string]provider.Instance {
	claims = slices.Sorted(slices.Values(claims))
	slices.SortFunc(instances, func(a, b provider.Instance) int {
		return cmp.Compare(instanceIDOf(&a), instanceIDOf(&b))
	})
	out := map[string]provider.Instance{}
	for i, claim := range claims {
		if i < len(instances) {
			out[claim] = instances[i]
		}
	}
	return out
}

func instanceIDOf(i *provider.Instance) string {
	id, err := InstanceID(i.ProviderID)
	if err != nil {
		return i.ProviderID
	}
	return id
}
