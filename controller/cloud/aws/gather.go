package aws

import (
	"context"
	"sync"
	"time"
)

// How long callers wait for each other. One window is open at a time: it closes
// when nobody came for the idle time, when it has been open for the longest
// time, or when it is full.
const (
	gatherIdle    = 35 * time.Millisecond
	gatherLongest = 500 * time.Millisecond
)

// The same for claims that may share a request. Those of one decision come one
// after another, with writes to the API server in between, and the more have come,
// the more are likely to follow: each of them makes the rest wait a little longer
// for the next.
const (
	prepareIdle    = 100 * time.Millisecond
	prepareEach    = 10 * time.Millisecond
	prepareMost    = time.Second
	prepareLongest = 4 * time.Second
)

// gatherer joins questions asked at about the same time into one call. Its
// answers come back by question; a question asked twice in a window is put once.
type gatherer[Q comparable, A any] struct {
	idle    time.Duration
	longest time.Duration
	// each question adds as much to the idle time, up to patience; 0 adds none.
	each, patience time.Duration
	most           int
	// do puts the questions. It must answer each of them.
	do func(ctx context.Context, questions []Q) map[Q]answer[A]
	// closed is told how many questions a window gathered and for how long; nil
	// when nobody measures it.
	closed func(size int, took time.Duration)

	mu   sync.Mutex
	open *window[Q, A]
}

type answer[A any] struct {
	value A
	err   error
}

type window[Q comparable, A any] struct {
	questions []Q
	asked     map[Q]bool
	// more wakes the window when somebody comes, full closes it at once.
	more chan struct{}
	full chan struct{}
	// done is closed once answers are there.
	done    chan struct{}
	answers map[Q]answer[A]
}

// ask puts one question with those of others. The call outlives the context
// of any single caller.
func (g *gatherer[Q, A]) ask(ctx context.Context, question Q) (A, error) {
	w := g.join(ctx, question)
	select {
	case <-w.done:
		a := w.answers[question]
		return a.value, a.err
	case <-ctx.Done():
		var none A
		return none, ctx.Err()
	}
}

func (g *gatherer[Q, A]) join(ctx context.Context, question Q) *window[Q, A] {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := g.open
	if w == nil {
		w = &window[Q, A]{asked: map[Q]bool{}, more: make(chan struct{}, 1), full: make(chan struct{}), done: make(chan struct{})}
		g.open = w
		go g.serve(context.WithoutCancel(ctx), w)
	}
	if !w.asked[question] {
		w.asked[question] = true
		w.questions = append(w.questions, question)
	}
	if len(w.questions) >= g.most {
		g.open = nil
		close(w.full)
		return w
	}
	select {
	case w.more <- struct{}{}:
	default: // it is awake already
	}
	return w
}

// serve waits for the window to close and puts its questions.
func (g *gatherer[Q, A]) serve(ctx context.Context, w *window[Q, A]) {
	begun := time.Now() //nolint:forbidigo // metrics measure real time
	g.await(ctx, w)
	took := time.Since(begun) //nolint:forbidigo // as above
	g.mu.Lock()
	if g.open == w {
		g.open = nil
	}
	questions := w.questions
	g.mu.Unlock()
	if g.closed != nil {
		g.closed(len(questions), took)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*callTimeout)
	defer cancel()
	w.answers = g.do(ctx, questions)
	close(w.done)
}

func (g *gatherer[Q, A]) await(ctx context.Context, w *window[Q, A]) {
	ctx, cancel := context.WithTimeout(ctx, g.longest)
	defer cancel()
	for w.another(ctx, g.pause(w)) {
	}
}

// pause is how long a window waits for the next question.
func (g *gatherer[Q, A]) pause(w *window[Q, A]) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(g.idle, min(g.idle+time.Duration(len(w.questions)-1)*g.each, g.patience))
}

// another says whether somebody came within the idle time.
func (w *window[Q, A]) another(ctx context.Context, idle time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, idle)
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

// toAll gives every question the same error.
func toAll[Q comparable, A any](questions []Q, err error) map[Q]answer[A] {
	out := make(map[Q]answer[A], len(questions))
	for _, q := range questions {
		out[q] = answer[A]{err: err}
	}
	return out
}
