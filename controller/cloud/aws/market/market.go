package market

import (
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// Market is what the region sells, and for how much. Sources read it from AWS.
type Market struct {
	EC2     client.Market
	Pricing client.Pricing
	Region  string
	// Isolated keeps to the embedded prices for on-demand, for networks that cannot
	// reach the Price List service.
	Isolated bool
	Clock    func() time.Time
	Log      logr.Logger
	// Estimated is set to the number of types at a derived price; nil records nothing.
	Estimated prometheus.Gauge

	mu sync.Mutex
	// answers are what AWS said last.
	answers  answers
	embedded embedded
	// derived are on-demand prices that no list has, by type.
	derived map[string]model.Price
	// current is put together from the above.
	current Offer
}

// answers are what AWS said last of each part of the market; nil is nothing yet.
type answers struct {
	facts    []fact
	zones    map[string][]string
	onDemand map[string]model.Price
	spot     map[string]map[string]model.Price
	volumes  map[string]model.VolumePrice
}

// Offer is what the region sells: types and their sales. Version counts the
// changes; 0 is none yet.
type Offer struct {
	Types   []catalog.Type
	Sales   []catalog.Sale
	Version uint64
	// ByID says that zones have the embedded catalogue's names, which only their IDs tie to
	// those of the account.
	ByID bool
	// Provisional says that EC2 has not said yet which types it sells in which zones, or
	// spot prices, so that the embedded catalogue serves.
	Provisional bool
}

// embedded is the embedded catalogue of the region, by type; empty where it
// does not know the region.
type embedded struct {
	loaded bool
	types  []catalog.Type
	sales  map[string]catalog.Sale
}

// Offer is what the region sells, as far as it was read. It asks nothing of AWS.
func (m *Market) Offer() Offer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current.Version == 0 {
		m.loadEmbedded()
		m.current = m.compose()
	}
	return m.current
}

// learn changes what is known of AWS's answers.
func (m *Market) learn(change func(*answers)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loadEmbedded()
	change(&m.answers)
	m.current = m.compose()
}

func (m *Market) loadEmbedded() {
	e := &m.embedded
	if e.loaded {
		return
	}
	e.loaded = true
	types, sales, err := catalog.Load(m.Region)
	if err != nil {
		m.Log.Info("no embedded catalogue to fall back on", "region", m.Region, "reason", err.Error())
		return
	}
	e.types = types
	e.sales = make(map[string]catalog.Sale, len(sales))
	for i := range sales {
		e.sales[sales[i].Type] = sales[i]
	}
}

// compose makes types and sales of what AWS said, and fills what it did not
// say from the embedded catalogue.
func (m *Market) compose() Offer {
	out := Offer{Version: m.current.Version + 1, Provisional: len(m.answers.facts) == 0 || m.answers.spot == nil}
	if len(m.answers.facts) == 0 {
		out.Types, out.ByID = m.embedded.types, true
		for i := range out.Types {
			out.Sales = append(out.Sales, m.priced(m.embedded.sales[out.Types[i].Name]))
		}
		return out
	}
	var missing []int
	for i := range m.answers.facts {
		f := &m.answers.facts[i]
		sale := m.embedded.sales[f.Name]
		sale.Type, sale.Zones = f.Name, slices.Clone(m.answers.zones[f.Name])
		sale = m.priced(sale)
		switch {
		case !f.onDemand:
			sale.OnDemand = 0
		case sale.OnDemand == 0:
			missing = append(missing, i)
		}
		if !f.spot {
			sale.Spot = nil
		}
		out.Types = append(out.Types, f.Type)
		out.Sales = append(out.Sales, sale)
	}
	m.derive(&out, missing)
	return out
}

// priced puts current prices over those of a sale from the embedded catalogue.
func (m *Market) priced(sale catalog.Sale) catalog.Sale {
	if price, ok := m.answers.onDemand[sale.Type]; ok {
		sale.OnDemand = price
	}
	embedded := sale.Spot
	sale.Spot = map[string]model.Price{}
	for _, zone := range sale.Zones {
		price, ok := m.answers.spot[sale.Type][zone]
		if m.answers.spot == nil { // not read yet; what EC2 has no price for it does not sell
			price, ok = embedded[zone]
		}
		if ok {
			sale.Spot[zone] = price
		}
	}
	return sale
}
