package batch

import (
	"context"
	"sync"
	"time"
)

// Batcher joins questions asked at about the same time into one call. Its
// answers come back by question; a question asked twice in a window is put once.
type Batcher[Q comparable, A any] struct {
	// Idle closes a window when nobody asked for so long, Longest when it has been open
	// for so long, Most when it holds so many questions. One window is open at a time.
	Idle, Longest time.Duration
	Most          int
	// Timeout bounds Do.
	Timeout time.Duration
	// Do puts the questions. It must answer each of them.
	Do func(ctx context.Context, questions []Q) map[Q]Answer[A]
	// Closed is told how many questions a window gathered and for how long; nil
	// when nobody measures it.
	Closed func(size int, took time.Duration)

	mu   sync.Mutex
	open *window[Q, A]
}

// Answer is what came back for one question.
type Answer[A any] struct {
	Value A
	Err   error
}

type window[Q comparable, A any] struct {
	questions []Q
	asked     map[Q]bool
	// more wakes the window when somebody comes, full closes it at once.
	more chan struct{}
	full chan struct{}
	// done is closed once answers are there.
	done    chan struct{}
	answers map[Q]Answer[A]
}

// Expect keeps the next window open until n questions have come, or for a minute. What it
// returns ends that. It is not safe while questions are asked.
func (b *Batcher[Q, A]) Expect(n int) (undo func()) {
	idle, longest, most := b.Idle, b.Longest, b.Most
	b.Idle, b.Longest, b.Most = time.Minute, time.Minute, min(n, most)
	return func() { b.Idle, b.Longest, b.Most = idle, longest, most }
}

// Ask puts one question with those of others. The call outlives the context
// of any single caller.
func (b *Batcher[Q, A]) Ask(ctx context.Context, question Q) (A, error) {
	w := b.join(ctx, question)
	select {
	case <-w.done:
		a := w.answers[question]
		return a.Value, a.Err
	case <-ctx.Done():
		var none A
		return none, ctx.Err()
	}
}

func (b *Batcher[Q, A]) join(ctx context.Context, question Q) *window[Q, A] {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.open
	if w == nil {
		w = &window[Q, A]{asked: map[Q]bool{}, more: make(chan struct{}, 1), full: make(chan struct{}), done: make(chan struct{})}
		b.open = w
		go b.serve(context.WithoutCancel(ctx), w)
	}
	if !w.asked[question] {
		w.asked[question] = true
		w.questions = append(w.questions, question)
	}
	if len(w.questions) >= b.Most {
		b.open = nil
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
func (b *Batcher[Q, A]) serve(ctx context.Context, w *window[Q, A]) {
	begun := time.Now() //nolint:forbidigo // metrics measure real time
	b.await(ctx, w)
	took := time.Since(begun) //nolint:forbidigo // as above
	b.mu.Lock()
	if b.open == w {
		b.open = nil
	}
	questions := w.questions
	b.mu.Unlock()
	if b.Closed != nil {
		b.Closed(len(questions), took)
	}
	ctx, cancel := context.WithTimeout(ctx, b.Timeout)
	defer cancel()
	w.answers = b.Do(ctx, questions)
	close(w.done)
}

func (b *Batcher[Q, A]) await(ctx context.Context, w *window[Q, A]) {
	ctx, cancel := context.WithTimeout(ctx, b.Longest)
	defer cancel()
	for w.another(ctx, b.Idle) {
	}
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

// ToAll gives every question the same error.
func ToAll[Q comparable, A any](questions []Q, err error) map[Q]Answer[A] {
	out := make(map[Q]Answer[A], len(questions))
	for _, q := range questions {
		out[q] = Answer[A]{Err: err}
	}
	return out
}
