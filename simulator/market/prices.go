package market

import (
	"fmt"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Price is an order to change an offering's price, in all zones when Zone is
// empty.
type Price struct {
	Type         string             `json:"type"`
	Zone         string             `json:"zone,omitempty"`
	CapacityType model.CapacityType `json:"capacityType"`
	// USD is per hour; 0 stops the sale.
	USD float64 `json:"usd"`
}

// Price is what an hour of an instance from a pool costs; 0 when it is not sold.
func (m *Market) Price(pool model.Option) model.Price {
	s := m.sales[pool.InstanceType]
	switch {
	case s == nil || !s.zones[pool.Zone]:
		return 0
	case pool.CapacityType == model.Spot:
		return s.spot[pool.Zone]
	default:
		return s.onDemand
	}
}

// OnDemand is a type's on-demand price an hour; 0 when it is not sold.
func (m *Market) OnDemand(name string) model.Price {
	if s := m.sales[name]; s != nil {
		return s.onDemand
	}
	return 0
}

// Since is when prices last changed.
func (m *Market) Since() time.Time { return m.since }

// SetPrices changes prices from now on; on-demand prices have no zone.
func (m *Market) SetPrices(prices []Price, now time.Time) error {
	for _, p := range prices {
		s := m.sales[p.Type]
		switch {
		case s == nil:
			return fmt.Errorf("price of %q: no such instance type", p.Type)
		case p.USD < 0:
			return fmt.Errorf("price of %s: %v is negative", p.Type, p.USD)
		case p.CapacityType == model.OnDemand && p.Zone == "":
			s.onDemand = model.PriceOf(p.USD)
		case p.CapacityType == model.Spot && (p.Zone == "" || s.zones[p.Zone]):
			for z := range s.zones {
				if p.Zone == "" || p.Zone == z {
					s.spot[z] = model.PriceOf(p.USD)
				}
			}
		default:
			return fmt.Errorf("price of %s: want capacityType on-demand without zone, or spot in a zone that sells it, not %q in %q", p.Type, p.CapacityType, p.Zone)
		}
	}
	m.since = now
	return nil
}
