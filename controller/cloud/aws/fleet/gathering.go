package fleet

import (
	"context"
	"sync"
	"time"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// How long the members of a group wait for one that does not come: its claim was deleted,
// or was prepared before the controller restarted. The time begins anew with each member
// that comes, up to longestWait in all. Claims that no decision has put into a group wait
// ungroupedWait for each other.
const (
	absentWait    = time.Second
	ungroupedWait = 100 * time.Millisecond
	longestWait   = 10 * time.Second
	// groupKept is for how long it is remembered who of a group has come.
	groupKept = time.Hour
)

// gathering brings the claims of a group together, so that they share requests. A
// group's window closes when its last member has come, and when as many claims wait as
// are launched at the same time: then no other can come.
type gathering struct {
	// most is how many claims can wait at the same time.
	most int
	// give gives each member of a window its answer.
	give func([]*member)
	// closed is told how many a window gathered, and for how long; nil is not told.
	closed func(size int, took time.Duration)
	clock  func() time.Time
	// patient keeps windows open for a minute, in tests ([Expect]).
	patient bool

	mu      sync.Mutex
	open    map[provider.Group]*window
	waiting int
	came    map[provider.Group]*attendance
}

// attendance says who of a group has come so far. After all have, claims is nil: an hour's
// names of all that was launched are not kept.
type attendance struct {
	claims   map[string]bool
	complete bool
	since    time.Time
}

// window are the members of a group that wait for an answer.
type window struct {
	group   provider.Group
	members map[memberID]*member
	// more says that somebody came; full is closed to close the window at once.
	more, full chan struct{}
	// done is closed once members have their answers.
	done chan struct{}
}

// attempt waits with the others of the member's group for an attempt.
func (g *gathering) attempt(ctx context.Context, m *member) (provider.Attempt, error) {
	w, m := g.join(ctx, m)
	select {
	case <-w.done:
		return m.attempt, m.err
	case <-ctx.Done():
		return provider.Attempt{}, client.Refuse(provider.Unavailable, "wait for the claims of the same request: %w", ctx.Err())
	}
}

// join gives the window of the member's group. The same attempt asked for twice is
// answered once: the member is that of the first time.
func (g *gathering) join(ctx context.Context, m *member) (*window, *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.ordinal > 0 {
		m.group = provider.Group{} // how many of the group try again is not known
	}
	w := g.open[m.group]
	if w == nil {
		w = &window{
			group: m.group, members: map[memberID]*member{},
			more: make(chan struct{}, 1), full: make(chan struct{}), done: make(chan struct{}),
		}
		if g.open == nil {
			g.open = map[provider.Group]*window{}
		}
		g.open[m.group] = w
		go g.serve(context.WithoutCancel(ctx), w)
	}
	if known := w.members[m.memberID]; known != nil {
		return w, known
	}
	w.members[m.memberID] = m
	g.waiting++
	switch {
	case g.complete(m):
		g.close(w)
	case g.waiting >= g.most:
		for _, each := range g.open {
			g.close(each)
		}
	default:
		select {
		case w.more <- struct{}{}:
		default: // it is awake already
		}
	}
	return w, m
}

// complete notes that a member has come, and says whether all of its group have.
func (g *gathering) complete(m *member) bool {
	if m.group.Size == 0 {
		return false
	}
	now := g.clock()
	for group, a := range g.came {
		if now.Sub(a.since) > groupKept {
			delete(g.came, group)
		}
	}
	a := g.came[m.group]
	if a == nil {
		a = &attendance{claims: map[string]bool{}, since: now}
		if g.came == nil {
			g.came = map[provider.Group]*attendance{}
		}
		g.came[m.group] = a
	}
	if a.complete {
		return true
	}
	a.claims[m.claim] = true
	if len(a.claims) >= m.group.Size {
		a.claims, a.complete = nil, true
	}
	return a.complete
}

// close takes a window from those that can be joined.
func (g *gathering) close(w *window) {
	if g.open[w.group] == w {
		delete(g.open, w.group)
		g.waiting -= len(w.members)
		close(w.full)
	}
}

// serve waits for the window to close and has its members answered.
func (g *gathering) serve(ctx context.Context, w *window) {
	begun := time.Now() //nolint:forbidigo // metrics measure real time
	w.await(ctx, g.patience(w.group))
	g.mu.Lock()
	g.close(w)
	members := make([]*member, 0, len(w.members))
	for _, m := range w.members {
		members = append(members, m)
	}
	g.mu.Unlock()
	if g.closed != nil {
		g.closed(len(members), time.Since(begun)) //nolint:forbidigo // as above
	}
	g.give(members)
	close(w.done)
}

// patience is for how long a group's window is open: each since the last member came, all
// in all.
type patience struct{ each, all time.Duration }

func (g *gathering) patience(group provider.Group) patience {
	switch {
	case g.patient:
		return patience{time.Minute, time.Minute}
	case group.Size == 0:
		return patience{ungroupedWait, longestWait}
	}
	return patience{absentWait, longestWait}
}

func (w *window) await(ctx context.Context, wait patience) {
	ctx, cancel := context.WithTimeout(ctx, wait.all)
	defer cancel()
	for w.another(ctx, wait.each) {
	}
}

// another says whether somebody came in time.
func (w *window) another(ctx context.Context, wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	select {
	case <-w.more:
		return true
	case <-w.full:
		return false
	case <-ctx.Done():
		return false
	}
}
