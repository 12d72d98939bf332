package wasm

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// pool keeps instances: those at work, those that wait, and one warm spare, so
// that the call after a fault does not wait for a start. A permit stands for
// each of them. Nothing is locked while a guest runs.
//
// A decision keeps the policies it began with. If one of them is replaced
// meanwhile, its closed pool still serves: each call gets an instance of its
// own, which ends with it.
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

// take waits for an instance of its own. It must be given back or discarded.
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

// give returns a sound instance for the next call.
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

// pop is for who has taken a token: of the instances that wait it is the one
// used last, whose memory is the likeliest to be in the processor's caches.
func (p *pool) pop() *instance {
	p.stacked.Lock()
	defer p.stacked.Unlock()
	last := len(p.idle) - 1
	i := p.idle[last]
	p.idle[last], p.idle = nil, p.idle[:last]
	return i
}

// discard ends an instance that must not be asked again.
func (p *pool) discard(ctx context.Context, i *instance) {
	i.close(ctx)
	if !i.single {
		<-p.permits
		p.spare(ctx)
	}
}

// spare starts an instance in the background if none waits.
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
		if err != nil { // the next call meets the error itself
			<-p.permits
			return
		}
		p.stacked.Lock()
		p.idle = slices.Insert(p.idle, 0, i)
		p.stacked.Unlock()
		p.ready <- struct{}{}
	})
}

// close ends the instances that wait, and waits for those at work.
func (p *pool) close(ctx context.Context) error {
	first := false
	p.closing.Do(func() { close(p.closed); first = true })
	if !first {
		return nil
	}
	for range cap(p.permits) {
		select {
		case p.permits <- struct{}{}:
		case <-p.ready: // its permit is ours now
			p.pop().close(ctx)
		case <-ctx.Done():
			return errors.Join(errors.New("close: calls are still at work"), ctx.Err())
		}
	}
	return nil
}
