package sim

import (
	"context"

	"spokeshave.dev/controller/cloud/provider"
)

var _ provider.Announcer = (*Provider)(nil)

// Announce delivers events to every listener. An event is repeated until the listener
// returns no error.
func (p *Provider) Announce(events ...provider.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.announced = append(p.announced, events...)
	close(p.arrived)
	p.arrived = make(chan struct{})
}

// ListenForEvents implements provider.Announcer. It delivers events announced before
// the call too.
func (p *Provider) ListenForEvents(ctx context.Context, handle provider.EventHandler) {
	for next := 0; ; {
		p.mu.Lock()
		events, arrived := p.announced[next:], p.arrived
		p.mu.Unlock()
		for _, e := range events {
			for handle(ctx, e) != nil && ctx.Err() == nil {
				continue
			}
			next++
		}
		select {
		case <-ctx.Done():
			return
		case <-arrived:
		}
	}
}

// Trouble sets what Troubled returns.
func (p *Provider) Trouble(events ...provider.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.troubled = events
}

// Troubled implements provider.Announcer.
func (p *Provider) Troubled(context.Context) ([]provider.Event, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.troubled, nil
}
