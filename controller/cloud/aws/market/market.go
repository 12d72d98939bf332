package market

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/aws/client"
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
	partTypes    = "instance types"
	partSpot     = "spot prices"
	partOnDemand = "on-demand prices"
	partVolumes  = "volume prices"
)

// Market is what the region sells, and for how much.
type Market struct {
	EC2     client.Market
	Pricing client.Pricing
	Region  string
	// Isolated keeps to the embedded prices for on-demand, for networks that cannot
	// reach the Price List service.
	Isolated bool
	Clock    func() time.Time
	Log      logr.Logger
	// Updated is set to when each part was read last; nil records nothing.
	Updated *prometheus.GaugeVec

	mu sync.Mutex
	// answers are what AWS said last, due when each is asked for again.
	answers  answers
	due      due
	embedded embedded
	// current is put together from the above.
	current Offer
}

// answers are what AWS said last of each part of the market.
type answers struct {
	facts    []fact
	zones    map[string][]string
	onDemand map[string]model.Price
	spot     map[string]map[string]model.Price
	volumes  map[string]model.VolumePrice
}

// due is when to ask again for each part; zero asks now.
type due struct{ types, onDemand, spot, volumes time.Time }

// Offer is what the region sells: types and their sales. Version counts the
// changes; 0 is none yet.
type Offer struct {
	Types   []catalog.Type
	Sales   []catalog.Sale
	Version uint64
}

// embedded is the embedded catalogue of the region, by type; empty where it
// does not know the region.
type embedded struct {
	loaded bool
	types  []catalog.Type
	sales  map[string]catalog.Sale
}

// Offer is what the region sells, asked of AWS when it is due.
func (m *Market) Offer(ctx context.Context) (Offer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loadEmbedded()
	now := m.Clock()
	changed, err := m.refresh(ctx, now)
	if len(m.answers.facts) == 0 && len(m.embedded.types) == 0 {
		return Offer{}, err
	}
	if changed || m.current.Version == 0 {
		m.current = m.compose()
	}
	return m.current, nil
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

// refresh asks for what is due. The error is the last failure; what failed
// keeps its previous answer.
func (m *Market) refresh(ctx context.Context, now time.Time) (changed bool, failure error) {
	a := &m.answers
	ask := func(next *time.Time, every time.Duration, what string, call func() error) {
		if now.Before(*next) {
			return
		}
		if err := call(); err != nil {
			m.Log.Error(err, "keep what is known of the market", "what", what, "retry", retryAfter.String())
			failure, *next = err, now.Add(retryAfter)
			return
		}
		changed, *next = true, now.Add(every)
		m.updated(what, now)
	}
	ask(&m.due.types, typesEvery, partTypes, func() error {
		facts, err := m.describeTypes(ctx)
		if err != nil {
			return err
		}
		zones, err := m.describeZones(ctx)
		if err != nil {
			return err
		}
		a.facts, a.zones = facts, zones
		return nil
	})
	ask(&m.due.spot, spotEvery, partSpot, func() error {
		spot, err := m.spotPrices(ctx)
		if err == nil {
			a.spot = spot
		}
		return err
	})
	if !m.Isolated {
		ask(&m.due.onDemand, onDemandEvery, partOnDemand, func() error {
			onDemand, err := m.onDemandPrices(ctx)
			if err == nil {
				a.onDemand = onDemand
			}
			return err
		})
		ask(&m.due.volumes, onDemandEvery, partVolumes, func() error {
			volumes, err := m.volumePrices(ctx)
			if err == nil {
				a.volumes = volumes
			}
			return err
		})
	}
	return changed, failure
}

// compose makes types and sales of what AWS said, and fills what it did not
// say from the embedded catalogue.
func (m *Market) compose() Offer {
	out := Offer{Version: m.current.Version + 1}
	if len(m.answers.facts) == 0 {
		out.Types = m.embedded.types
		for i := range out.Types {
			out.Sales = append(out.Sales, m.priced(m.embedded.sales[out.Types[i].Name]))
		}
		return out
	}
	for i := range m.answers.facts {
		f := &m.answers.facts[i]
		sale := m.embedded.sales[f.Name]
		sale.Type, sale.Zones = f.Name, slices.Clone(m.answers.zones[f.Name])
		sale = m.priced(sale)
		if !f.onDemand {
			sale.OnDemand = 0
		}
		if !f.spot {
			sale.Spot = nil
		}
		out.Types = append(out.Types, f.Type)
		out.Sales = append(out.Sales, sale)
	}
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
		if !ok {
			price, ok = embedded[zone]
		}
		if ok {
			sale.Spot[zone] = price
		}
	}
	return sale
}

// NewUpdated makes the metric of when each part of the market was read.
func NewUpdated() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "spokeshave_aws_market_updated_timestamp_seconds", Help: "When instance types and prices were last read from AWS; 0 is never: the embedded catalogue serves.",
	}, []string{"what"})
}

// Unread makes the metric say of each part that is used that it was never read.
func (m *Market) Unread() {
	for what, used := range map[string]bool{partTypes: true, partSpot: true, partOnDemand: !m.Isolated, partVolumes: !m.Isolated} {
		if used {
			m.updated(what, time.Unix(0, 0))
		}
	}
}

func (m *Market) updated(what string, at time.Time) {
	if m.Updated != nil {
		m.Updated.WithLabelValues(what).Set(float64(at.Unix()))
	}
}
