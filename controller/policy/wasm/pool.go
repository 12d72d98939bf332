package wasm

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// pool keeps instances: those in use, idle ones, and one idle spare, so that the
// call after a fault does not wait for a start. Each of them holds a permit. No lock
// is held while a guest runs.
//
// A decision keeps the policies that it began with. When one of them is replaced in
// the meantime, its closed pool still serves calls: each call gets an instance of
// its own, which is closed after it.
type pool struct {
	start   func(context.Context) (*instance, error)
	ready   chan struct{} // a token for each instance that waits
	stacked sync.Mutex
	idle    []*instance // those that wait, the one used last at the end
	permits chan struct{}
	closed  chan struct{}
	closing sync.Once
	spares  sync.WaitGroup
}

func newPool(size int, start func(context.Context) (*instance, error)) *pool {
	return &pool{
		start:   start,
		ready:   make(chan struct{}, size+1),
		permits: make(chan struct{}, size+1),
		closed:  make(chan struct{}),
	}
}

// take waits for an instance. The caller must pass it to give or discard.
func (p *pool) take(ctx context.Context) (*instance, error) {
	select {
	case <-p.closed:
		return p.once(ctx)
	default:
	}
	select {
	case <-p.ready:
		i := p.pop()
		p.spare(ctx)
		return i, nil
	default:
	}
	select {
	case <-p.ready:
		return p.pop(), nil
	case p.permits <- struct{}{}:
		i, err := p.start(ctx)
		if err != nil {
			<-p.permits
			return nil, err
		}
		return i, nil
	case <-p.closed:
		return p.once(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// once starts an instance for a single call.
func (p *pool) once(ctx context.Context) (*instance, error) {
	i, err := p.start(ctx)
	if err == nil {
		i.single = true
	}
	return i, err
}

// give returns a sound instance to the pool for the next call.
func (p *pool) give(ctx context.Context, i *instance) {
	if i.single {
		i.close(ctx)
		return
	}
	p.stacked.Lock()
	p.idle = append(p.idle, i)
	p.stacked.Unlock()
	p.ready <- struct{}{}
}

// pop removes the idle instance that was used last, since its memory is most likely
// still in the processor's caches. The caller must hold a token from ready.
func (p *pool) pop() *instance {
	p.stacked.Lock()
	defer p.stacked.Unlock()
	last := len(p.idle) - 1
	i := p.idle[last]
	p.idle[last], p.idle = nil, p.idle[:last]
	return i
}

// discard closes an instance that must not be asked again.
func (p *pool) discard(ctx context.Context, i *instance) {
	i.close(ctx)
	if !i.single {
		<-p.permits
		p.spare(ctx)
	}
}

// spare starts an instance in the background if none is idle.
func (p *pool) spare(ctx context.Context) {
	if len(p.ready) > 0 {
		return
	}
	select {
	case <-p.closed:
		return
	default:
	}
	select {
	case p.permits <- struct{}{}:
	default:
		return
	}
	ctx = context.WithoutCancel(ctx)
	p.spares.Go(func() {
		i, err := p.start(ctx)
		if err != nil { // the next call will get the error itself
			<-p.permits
			return
		}
		p.stacked.Lock()
		p.idle = slices.Insert(p.idle, 0, i)
		p.stacked.Unlock()
		p.ready <- struct{}{}
	})
}

// close closes the idle instances and waits for those in use.
func (p *pool) close(ctx context.Context) error {
	first := false
	p.closing.Do(func() { close(p.closed); first = true })
	if !first {
		return nil
	}
	for range cap(p.permits) {
		select {
		case p.permits <- struct{}{}:
		case <-p.ready: // takes over its permit
			p.pop().close(ctx)
		case <-ctx.Done():
			return errors.Join(errors.New("close: calls are still at work"), ctx.Err())
		}
	}
	return nil
}
