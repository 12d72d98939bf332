package sim

import (
	"context"
	"maps"

	"spokeshave.dev/controller/cloud/provider"
)

// The states of an instance, as EC2 names them.
const (
	pending      = "pending"
	running      = "running"
	shuttingDown = "shutting-down"
	terminated   = "terminated"
)

// Get implements provider.Provider.
func (p *Provider) Get(ctx context.Context, providerID string) (provider.Instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter(ctx, CallGet); err != nil {
		return provider.Instance{}, err
	}
	m, err := p.find(providerID)
	if err != nil {
		return provider.Instance{}, err
	}
	return p.view(m), nil
}

// List implements provider.Provider.
func (p *Provider) List(ctx context.Context) ([]provider.Instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter(ctx, CallList); err != nil {
		return nil, err
	}
	return p.living(), nil
}

// Terminate implements provider.Provider.
func (p *Provider) Terminate(ctx context.Context, providerID string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter(ctx, CallTerminate); err != nil {
		return err
	}
	m, err := p.find(providerID)
	if err != nil {
		return err
	}
	if m.stopping.IsZero() {
		m.stopping = p.cfg.Clock.Now()
	}
	return p.leave(CallTerminate)
}

// Tag implements provider.Provider.
func (p *Provider) Tag(ctx context.Context, providerID string, tags map[string]string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter(ctx, CallTag); err != nil {
		return err
	}
	m, err := p.find(providerID)
	if err != nil {
		return err
	}
	maps.Copy(m.Tags, tags)
	return p.leave(CallTag)
}

// find returns the machine. It is an error when the machine is unknown or terminated.
func (p *Provider) find(providerID string) (*machine, error) {
	for _, m := range p.machines {
		if m.ProviderID != providerID {
			continue
		}
		if p.state(m) == terminated {
			return nil, refuse(provider.NotFound, "find instance %s: it is terminated", providerID)
		}
		return m, nil
	}
	return nil, refuse(provider.NotFound, "find instance %s: no such instance", providerID)
}

func (p *Provider) living() []provider.Instance {
	out := []provider.Instance{}
	for _, m := range p.machines {
		if p.state(m) != terminated {
			out = append(out, p.view(m))
		}
	}
	return out
}

// state returns the machine's state, which depends only on the clock.
func (p *Provider) state(m *machine) string {
	now := p.cfg.Clock.Now()
	switch {
	case !m.stopping.IsZero() && !now.Before(m.stopping.Add(p.cfg.StopDelay)):
		return terminated
	case !m.stopping.IsZero():
		return shuttingDown
	case now.Before(m.LaunchTime.Add(p.cfg.BootDelay)):
		return pending
	default:
		return running
	}
}

// view returns a copy of the machine's instance that callers may keep.
func (p *Provider) view(m *machine) provider.Instance {
	out := m.Instance
	out.State = p.state(m)
	out.Tags = maps.Clone(m.Tags)
	out.Claim = out.Tags["karpenter.sh/nodeclaim"]
	out.NodePool = out.Tags["karpenter.sh/nodepool"]
	return out
}
