package aws

import (
	"context"
	"slices"
	"sync"
	"time"

	"spokeshave.dev/controller/catalog"
	"spokeshave.dev/controller/model"
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

// market is what the region sells, and for how much.
type market struct {
	mu sync.Mutex

	facts    []fact
	zones    map[string][]string
	onDemand map[string]model.Price
	spot     map[string]map[string]model.Price
	// typesDue, onDemandDue and spotDue are when to ask again; zero asks now.
	typesDue, onDemandDue, spotDue time.Time

	embedded embedded
	// types and sales are put together from the above; version counts them.
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

// offer is the region's types and sales, asked of AWS when they are due.
func (p *Provider) offer(ctx context.Context) ([]catalog.Type, []catalog.Sale, uint64, error) {
	m := &p.market
	m.mu.Lock()
	defer m.mu.Unlock()
	p.loadEmbedded()
	now := p.cfg.Clock()
	changed, err := p.refresh(ctx, now)
	if len(m.facts) == 0 && len(m.embedded.types) == 0 {
		return nil, nil, 0, err
	}
	if changed || m.version == 0 {
		m.compose()
		m.version++
	}
	return m.types, m.sales, m.version, nil
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
	}
	ask(&m.typesDue, typesEvery, "instance types", func() error {
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
	ask(&m.spotDue, spotEvery, "spot prices", func() error {
		spot, err := p.spotPrices(ctx)
		if err == nil {
			m.spot = spot
		}
		return err
	})
	if !p.cfg.Isolated {
		ask(&m.onDemandDue, onDemandEvery, "on-demand prices", func() error {
			onDemand, err := p.onDemandPrices(ctx)
			if err == nil {
				m.onDemand = onDemand
			}
			return err
		})
	}
	return changed, failure
}

// compose makes types and sales of what AWS said, and fills what it did not
// say from the embedded catalogue.
func (m *market) compose() {
	if len(m.facts) == 0 {
		m.types = m.embedded.types
		m.sales = make([]catalog.Sale, 0, len(m.types))
		for i := range m.types {
			m.sales = append(m.sales, m.priced(m.embedded.sales[m.types[i].Name], true, true))
		}
		return
	}
	m.types = make([]catalog.Type, 0, len(m.facts))
	m.sales = make([]catalog.Sale, 0, len(m.facts))
	for i := range m.facts {
		f := &m.facts[i]
		known := m.embedded.sales[f.Name]
		known.Type, known.Zones = f.Name, m.zones[f.Name]
		m.types = append(m.types, f.Type)
		m.sales = append(m.sales, m.priced(known, f.onDemand, f.spot))
	}
}

// priced puts current prices over those of a sale from the embedded catalogue,
// and keeps to the ways in which the type is sold.
func (m *market) priced(sale catalog.Sale, onDemand, spot bool) catalog.Sale {
	if price, ok := m.onDemand[sale.Type]; ok {
		sale.OnDemand = price
	}
	if !onDemand {
		sale.OnDemand = 0
	}
	embedded := sale.Spot
	sale.Spot = map[string]model.Price{}
	for _, zone := range sale.Zones {
		price, ok := m.spot[sale.Type][zone]
		if !ok {
			price, ok = embedded[zone]
		}
		if ok && spot {
			sale.Spot[zone] = price
		}
	}
	sale.Zones = slices.Clone(sale.Zones)
	return sale
}
