package sim

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Catalog implements provider.Provider. Offerings that a launch found sold out
// are unavailable for Config.SoldOutFor.
func (p *Provider) Catalog(ctx context.Context, nodeClass string) (model.Catalog, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter(ctx, CallCatalog); err != nil {
		return model.Catalog{}, err
	}
	catalog, ok := p.cfg.Catalogs[nodeClass]
	if !ok {
		return model.Catalog{}, refuse(provider.ClassNotReady, "catalogue of node class %s: no such class", nodeClass)
	}
	short := p.shortages()
	if len(short) == 0 {
		return catalog, nil
	}
	catalog.Generation ^= digest(short)
	types := slices.Clone(catalog.Types)
	for i := range types {
		types[i].Offerings = slices.Clone(types[i].Offerings)
		for j := range types[i].Offerings {
			o := &types[i].Offerings[j]
			if slices.Contains(short, offering{types[i].Name, o.Zone, o.CapacityType}) {
				o.Available = false
			}
		}
	}
	catalog.Types = types
	return catalog, nil
}

// shortages returns, sorted, the offerings known to be sold out, and drops those whose
// time is over.
func (p *Provider) shortages() []offering {
	now := p.cfg.Clock.Now()
	out := make([]offering, 0, len(p.shortage))
	for o, until := range p.shortage {
		if !now.Before(until) {
			delete(p.shortage, o)
			continue
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b offering) int {
		return cmp.Or(cmp.Compare(a.instanceType, b.instanceType), cmp.Compare(a.zone, b.zone), cmp.Compare(a.capacityType, b.capacityType))
	})
	return out
}

func digest(short []offering) uint64 {
	h := fnv.New64a()
	// Writing to a hash never fails.
	_, _ = fmt.Fprint(h, short)
	return h.Sum64()
}
