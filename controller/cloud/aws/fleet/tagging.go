package fleet

import (
	"context"
	"slices"
	"sync"
	"time"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// tagFor bounds how long an instance waits for its tags: a thousand instances need
// minutes at the rate that EC2 allows. An instance that EC2 does not show yet is tried
// again after tagPause.
const (
	tagFor   = 10 * time.Minute
	tagTries = 5
	tagPause = time.Second
)

// untagged is an instance whose claim is not written on it yet.
type untagged struct {
	providerID string
	tags       map[string]string
	// The instance is tried from one time until the other.
	from, until time.Time
	tries       int
}

// tagQueue tags instances with their claims, one after the other, in the background.
// Nothing depends on it but people, and garbage collection after a crash; TagClaim makes
// up for what it misses.
type tagQueue struct {
	tag   func(ctx context.Context, providerID string, tags map[string]string) error
	clock func() time.Time

	mu      sync.Mutex
	waiting []untagged
	// taken is the provider ID of the instance whose turn it is; "" when it has ended since.
	taken   string
	running bool
}

// add queues the instances of a shared launch for their tags.
func (q *tagQueue) add(ctx context.Context, bare []untagged) {
	if len(bare) == 0 {
		return
	}
	until := q.clock().Add(tagFor)
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, u := range bare {
		u.until = until
		q.waiting = append(q.waiting, u)
	}
	if !q.running {
		q.running = true
		go q.run(ctx)
	}
}

// run tags instances until none waits.
func (q *tagQueue) run(ctx context.Context) {
	for {
		next, ok := q.take()
		if !ok {
			return
		}
		client.Pause(ctx, next.from.Sub(q.clock()))
		if q.clock().After(next.until) || !q.lives() {
			continue
		}
		err := q.tag(ctx, next.providerID, next.tags)
		if next.tries++; err == nil || provider.KindOf(err).Definitive() || next.tries == tagTries {
			continue
		}
		next.from = q.clock().Add(tagPause)
		q.again(next)
	}
}

// take removes the instance that has waited longest. With none left, the queue stops
// running.
func (q *tagQueue) take() (untagged, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.waiting, q.running = nil, false
		return untagged{}, false
	}
	next := q.waiting[0]
	q.waiting[0] = untagged{} // the array keeps nothing of it
	q.waiting, q.taken = q.waiting[1:], next.providerID
	return next, true
}

// drop removes an instance that has ended. While instances come and go faster than EC2 lets
// them be tagged, all of the last ten minutes would wait for tags that nobody reads.
func (q *tagQueue) drop(providerID string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken == providerID {
		q.taken = ""
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(u untagged) bool { return u.providerID == providerID })
}

// lives reports whether the instance whose turn it is has not ended.
func (q *tagQueue) lives() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taken != ""
}

// again puts the instance whose turn it is at the end of the queue, unless it has ended.
func (q *tagQueue) again(u untagged) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken != "" {
		q.waiting = append(q.waiting, u)
	}
}
