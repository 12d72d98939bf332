package backtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
)

// Market describes how spot capacity changes. A field of zero has its default; a
// negative one switches the change off.
type Market struct {
	// Volatility is the standard deviation of a spot price's logarithm over a day. The
	// default is 0.1.
	Volatility float64
	// Shortages is the share of spot offerings that are sold out at a time. The default
	// is 0.05. A shortage lasts some hours.
	Shortages float64
	// Interruptions multiplies the catalogue's interruption rates. The default is 1.
	// Offerings without a rate have 5 % per month.
	Interruptions float64
}

const (
	// step is how often the market changes.
	step = time.Hour
	// shortage is how long a shortage lasts on average, in steps.
	shortage = 4
	month    = 730 * time.Hour
	// unknownRate is the monthly interruption rate of offerings without one.
	unknownRate = 0.05
	// notice is how long before its end a spot instance gets its notice.
	notice = 2 * time.Minute
)

// prices is the state of all spot offerings.
type prices struct {
	Market

	offers []offer
	now    []model.Catalog
	// generation is the number of steps so far.
	generation uint64
}

type offer struct {
	catalog, typ, at int
	base, most       model.Price
	drift            float64 // of the logarithm
	out              bool
}

func standard(v, otherwise float64) float64 {
	switch {
	case v == 0:
		return otherwise
	case v < 0:
		return 0
	}
	return v
}

// openMarket initializes the market and the cloud.
func (w *simulation) openMarket() error {
	m := &prices{Market: w.cfg.Market}
	m.Volatility, m.Shortages = standard(m.Volatility, 0.1), min(standard(m.Shortages, 0.05), 0.9)
	m.Interruptions = standard(m.Interruptions, 1)
	byClass := map[string]model.Catalog{}
	for c := range w.base.Catalogs {
		catalog := w.base.Catalogs[c]
		catalog.Types = slices.Clone(catalog.Types)
		for t := range catalog.Types {
			typ := &catalog.Types[t]
			typ.Offerings = slices.Clone(typ.Offerings)
			w.types[catalog.NodeClass+"/"+typ.Name] = t
			var onDemand model.Price
			for i := range typ.Offerings {
				if typ.Offerings[i].CapacityType == model.OnDemand {
					onDemand = max(onDemand, typ.Offerings[i].Price)
				}
			}
			for i := range typ.Offerings {
				if o := &typ.Offerings[i]; o.CapacityType == model.Spot {
					m.offers = append(m.offers, offer{catalog: c, typ: t, at: i, base: o.Price, most: max(onDemand, o.Price)})
				}
			}
		}
		m.now = append(m.now, catalog)
		byClass[catalog.NodeClass] = catalog
	}
	w.market = m
	var err error
	w.cloud, err = sim.New(sim.Config{Catalogs: byClass, Clock: w.clock})
	if err != nil {
		return fmt.Errorf("backtest: %w", err)
	}
	w.at(w.now(), w.stepMarket)
	return nil
}

// stepMarket advances every spot price and shortage by one step.
func (w *simulation) stepMarket(context.Context) error {
	m := w.market
	m.generation++
	for i := range m.now {
		m.now[i].Types = slices.Clone(m.now[i].Types)
		for t := range m.now[i].Types {
			m.now[i].Types[t].Offerings = slices.Clone(m.now[i].Types[t].Offerings)
		}
		m.now[i].Generation = w.base.Catalogs[i].Generation ^ m.generation*0x9e3779b97f4a7c15
	}
	for i := range m.offers {
		w.stepOffer(&m.offers[i])
	}
	for i := range m.now {
		w.cloud.SetCatalog(m.now[i].NodeClass, m.now[i])
	}
	for _, n := range w.nodes {
		if n.CapacityType == model.Spot {
			n.Price = w.price(n)
		}
	}
	w.changed = true
	w.decideDisruptionBy(w.now().Add(w.cfg.Look))
	w.at(w.now().Add(step), w.stepMarket)
	return nil
}

// stepOffer advances one offering by one step. Its price returns to its mean within days.
// Shortages begin and end so often that the configured share is sold out.
func (w *simulation) stepOffer(o *offer) {
	m := w.market
	perStep := m.Volatility * math.Sqrt(step.Hours()/24)
	o.drift = o.drift*0.98 + w.rng.NormFloat64()*perStep
	typ := &m.now[o.catalog].Types[o.typ]
	of := &typ.Offerings[o.at]
	of.Price = min(o.most, max(1, model.PriceOf(o.base.USD()*math.Exp(o.drift))))
	chance := w.rng.Float64()
	option := model.Option{InstanceType: typ.Name, Zone: of.Zone, CapacityType: of.CapacityType}
	switch {
	case o.out && chance < 1.0/shortage:
		o.out = false
		w.cloud.Restock(option)
	case !o.out && chance < m.Shortages/(1-m.Shortages)/shortage:
		o.out = true
		w.cloud.SellOut(option)
	}
}

// catalogs returns what the cloud offers now. Offerings are marked as unavailable where
// a launch has found a shortage.
func (w *simulation) catalogs(ctx context.Context) []model.Catalog {
	out := slices.Clone(w.market.now)
	for i := range out {
		if c, err := w.cloud.Catalog(ctx, out[i].NodeClass); err == nil {
			out[i] = c
		}
	}
	return out
}

// price returns what a machine costs per hour now.
func (w *simulation) price(m *machine) model.Price {
	t := &w.market.now[w.base.Pools[m.Pool].Catalog].Types[w.types[w.base.Pools[m.Pool].NodeClass+"/"+m.InstanceType]]
	for i := range t.Offerings {
		if o := &t.Offerings[i]; o.Zone == m.Zone && o.CapacityType == m.CapacityType {
			return o.Price
		}
	}
	return m.Price
}

// lifetime draws the time after which a spot machine is interrupted.
func (w *simulation) lifetime(m *machine, draw *rand.Rand) time.Duration {
	rate := 0.0
	for i := range m.typ.Offerings {
		if o := &m.typ.Offerings[i]; o.Zone == m.Zone && o.CapacityType == model.Spot {
			rate = o.Interruption
		}
	}
	if rate == 0 {
		rate = unknownRate
	}
	// A monthly interruption probability p is a hazard rate of -ln(1-p) per month.
	hazard := -math.Log(1-min(rate, 0.99)) * w.market.Interruptions
	x := draw.ExpFloat64()
	if hazard <= 0 {
		return 0
	}
	return time.Duration(min(x/hazard, 1000) * float64(month))
}
