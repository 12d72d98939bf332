package sim

import (
	"context"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Call names a method of the provider for which a fault can be set.
type Call string

// The calls.
const (
	CallCatalog   Call = "Catalog"
	CallPrepare   Call = "Prepare"
	CallLaunch    Call = "Launch"
	CallGet       Call = "Get"
	CallList      Call = "List"
	CallTerminate Call = "Terminate"
	CallTag       Call = "Tag"
)

type fault struct {
	err error
	// after says that the call takes effect and only its answer is lost.
	after bool
}

// SellOut makes offerings out of stock until Restock. The catalogue shows it only after
// a launch has failed.
func (p *Provider) SellOut(options ...model.Option) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range options {
		p.soldOut[offeringOf(&options[i])] = true
	}
}

// Restock makes offerings available again.
func (p *Provider) Restock(options ...model.Option) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range options {
		delete(p.soldOut, offeringOf(&options[i]))
	}
}

// SetCatalog changes what a node class can launch, and at what prices. The
// catalogue must not be changed afterwards.
func (p *Provider) SetCatalog(nodeClass string, catalog model.Catalog) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cfg.Catalogs[nodeClass] = catalog
}

// Fail makes the next call of the method fail without taking effect. Several calls of
// Fail and Lose are queued.
func (p *Provider) Fail(call Call, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults[call] = append(p.faults[call], fault{err: err})
}

// Lose makes the next Launch, Terminate or Tag take effect and return an error of kind
// Unavailable, as when its answer is lost.
func (p *Provider) Lose(call Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lost := refuse(provider.Unavailable, "%s: the answer was lost", call)
	p.faults[call] = append(p.faults[call], fault{err: lost, after: true})
}

// Interrupt terminates an instance as a spot interruption does.
func (p *Provider) Interrupt(providerID string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.find(providerID)
	if err != nil {
		return err
	}
	if m.stopping.IsZero() {
		m.stopping = p.cfg.Clock.Now()
	}
	return nil
}

// Machines returns the instances that really exist, regardless of what the provider's
// calls return.
func (p *Provider) Machines() []provider.Instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.living()
}

// Reprice replaces what a node class can launch, and its prices. Running machines are
// billed at the new prices from now on.
func (p *Provider) Reprice(nodeClass string, catalog model.Catalog) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cfg.Catalogs[nodeClass] = catalog
}

// Billed is a machine that is billed, with its price per hour.
type Billed struct {
	provider.Instance
	Price model.Price
}

// Bill returns the machines that are billed now, at present prices. As on EC2, a
// machine that is shutting down is not billed.
func (p *Provider) Bill() []Billed {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Billed
	for _, m := range p.machines {
		if m.stopping.IsZero() {
			out = append(out, Billed{Instance: p.view(m), Price: p.price(m)})
		}
	}
	return out
}

func (p *Provider) price(m *machine) model.Price {
	catalog := p.cfg.Catalogs[m.nodeClass]
	for i := range catalog.Types {
		if catalog.Types[i].Name != m.InstanceType {
			continue
		}
		for _, o := range catalog.Types[i].Offerings {
			if o.Zone == m.Zone && o.CapacityType == m.CapacityType {
				return o.Price
			}
		}
	}
	return 0
}

// enter returns the error of a call whose context has ended, or for which Fail has
// queued an error.
func (p *Provider) enter(ctx context.Context, call Call) error {
	if err := ctx.Err(); err != nil {
		return refuse(provider.Unavailable, "%s: %w", call, err)
	}
	if queue := p.faults[call]; len(queue) > 0 && !queue[0].after {
		p.faults[call] = queue[1:]
		return queue[0].err
	}
	return nil
}

// leave returns the error of a call that has taken effect and whose answer Lose has
// dropped.
func (p *Provider) leave(call Call) error {
	if queue := p.faults[call]; len(queue) > 0 && queue[0].after {
		p.faults[call] = queue[1:]
		return queue[0].err
	}
	return nil
}
