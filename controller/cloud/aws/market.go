package aws

import (
	"context"
	"slices"
	"sync"
	"time"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// How long what AWS says of its offer is taken for current. After a failure it
// is asked again sooner, and the last answer (at first the embedded catalogue)
// serves meanwhile.
const (
	typesEvery    = 12 * time.Hour
	onDemandEvery = 12 * time.Hour
	spotEvery     = time.Hour
	retryAfter    = 5 * time.Minute
)

// The parts of the market, in logs and metrics.
const (
	marketTypes    = "instance types"
	marketSpot     = "spot prices"
	marketOnDemand = "on-demand prices"
	marketVolumes  = "volume prices"
)

// market is what the region sells, and for how much.
type market struct {
	mu sync.Mutex

	facts    []fact
	zones    map[string][]string
	onDemand map[string]model.Price
	spot     map[string]map[string]model.Price
	volumes  map[string]model.VolumePrice
	// typesDue and the others are when to ask again; zero asks now.
	typesDue, onDemandDue, spotDue, volumesDue time.Time

	embedded embedded
	// current is put together from the above.
	current offer
}

// offer is what the region sells: types and their sales. Version counts the
// changes; 0 is none yet.
type offer struct {
	types   []catalog.Type
	sales   []catalog.Sale
	version uint64
}

// embedded is the embedded catalogue of the region, by type; empty where it
// does not know the region.
type embedded struct {
	loaded bool
	types  []catalog.Type
	sales  map[string]catalog.Sale
}

// offer is what the region sells, asked of AWS when it is due.
func (p *Provider) offer(ctx context.Context) (offer, error) {
	m := &p.market
	m.mu.Lock()
	defer m.mu.Unlock()
	p.loadEmbedded()
	now := p.cfg.Clock()
	changed, err := p.refresh(ctx, now)
	if len(m.facts) == 0 && len(m.embedded.types) == 0 {
		return offer{}, err
	}
	if changed || m.current.version == 0 {
		m.current = m.compose()
	}
	return m.current, nil
}

func (p *Provider) loadEmbedded() {
	e := &p.market.embedded
	if e.loaded {
		return
	}
	e.loaded = true
	types, sales, err := catalog.Load(p.region)
	if err != nil {
		p.cfg.Log.Info("no embedded catalogue to fall back on", "region", p.region, "reason", err.Error())
		return
	}
	e.types = types
	e.sales = make(map[string]catalog.Sale, len(sales))
	for i := range sales {
		e.sales[sales[i].Type] = sales[i]
	}
}

// refresh asks for what is due. The error is the last failure; what failed
// keeps its previous answer.
func (p *Provider) refresh(ctx context.Context, now time.Time) (changed bool, failure error) {
	m := &p.market
	ask := func(due *time.Time, every time.Duration, what string, call func() error) {
		if now.Before(*due) {
			return
		}
		if err := call(); err != nil {
			p.cfg.Log.Error(err, "keep what is known of the market", "what", what, "retry", retryAfter.String())
			failure, *due = err, now.Add(retryAfter)
			return
		}
		changed, *due = true, now.Add(every)
		p.metrics.updated(what, now)
	}
	ask(&m.typesDue, typesEvery, marketTypes, func() error {
		facts, err := p.describeTypes(ctx)
		if err != nil {
			return err
		}
		zones, err := p.describeZones(ctx)
		if err != nil {
			return err
		}
		m.facts, m.zones = facts, zones
		return nil
	})
	ask(&m.spotDue, spotEvery, marketSpot, func() error {
		spot, err := p.spotPrices(ctx)
		if err == nil {
			m.spot = spot
		}
		return err
	})
	if !p.cfg.Isolated {
		ask(&m.onDemandDue, onDemandEvery, marketOnDemand, func() error {
			onDemand, err := p.onDemandPrices(ctx)
			if err == nil {
				m.onDemand = onDemand
			}
			return err
		})
		ask(&m.volumesDue, onDemandEvery, marketVolumes, func() error {
			volumes, err := p.volumePrices(ctx)
			if err == nil {
				m.volumes = volumes
			}
			return err
		})
	}
	return changed, failure
}

// compose makes types and sales of what AWS said, and fills what it did not
// say from the embedded catalogue.
func (m *market) compose() offer {
	out := offer{version: m.current.version + 1}
	if len(m.facts) == 0 {
		out.types = m.embedded.types
		for i := range out.types {
			out.sales = append(out.sales, m.priced(m.embedded.sales[out.types[i].Name]))
		}
		return out
	}
	for i := range m.facts {
		f := &m.facts[i]
		sale := m.embedded.sales[f.Name]
		sale.Type, sale.Zones = f.Name, slices.Clone(m.zones[f.Name])
		sale = m.priced(sale)
		if !f.onDemand {
			sale.OnDemand = 0
		}
		if !f.spot {
			sale.Spot = nil
		}
		out.types = append(out.types, f.Type)
		out.sales = append(out.sales, sale)
	}
	return out
}

// priced puts current prices over those of a sale from the embedded catalogue.
func (m *market) priced(sale catalog.Sale) catalog.Sale {
	if price, ok := m.onDemand[sale.Type]; ok {
		sale.OnDemand = price
	}
	embedded := sale.Spot
	sale.Spot = map[string]model.Price{}
	for _, zone := range sale.Zones {
		price, ok := m.spot[sale.Type][zone]
		if !ok {
			price, ok = embedded[zone]
		}
		if ok {
			sale.Spot[zone] = price
		}
	}
	return sale
}
