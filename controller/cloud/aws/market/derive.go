package market

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// derive gives the sales at the indices, which are sold on demand at a price that no list
// has, a derived one. The prices of other regions are decoded for that and not kept.
func (m *Market) derive(out *Offer, missing []int) {
	if m.Estimated != nil {
		m.Estimated.Set(float64(len(missing)))
	}
	var estimator *catalog.Estimator
	for _, i := range missing {
		t := &out.Types[i]
		price, known := m.derived[t.Name]
		if !known {
			if estimator == nil {
				var err error
				if estimator, err = catalog.NewEstimator(m.Region); err != nil {
					m.Log.Error(err, "types without a price are left out", "types", len(missing))
					return
				}
				m.Log.Info("prices that no list has are derived from those of other types and regions", "types", len(missing), "first", t.Name)
			}
			price, _ = estimator.Price(t)
			if m.derived == nil {
				m.derived = map[string]model.Price{}
			}
			m.derived[t.Name] = price
		}
		out.Sales[i].OnDemand, out.Sales[i].Estimated = price, true
	}
}

// NewEstimated makes the metric of types that are sold at a derived price.
func NewEstimated() prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "spokeshave_aws_estimated_prices", Help: "Instance types whose on-demand price is in no price list and was derived from other types or regions.",
	})
}

// hasPriceList says whether the Price List service answers for a region. The partitions of
// GovCloud and the isolated ones have none.
// https://docs.aws.amazon.com/general/latest/gr/billing.html
func hasPriceList(region string) bool {
	return !strings.HasPrefix(region, "us-gov-") && !strings.HasPrefix(region, "us-iso") && !strings.HasPrefix(region, "eu-isoe-")
}

// currency is the one in which the price list has a region's prices.
func currency(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "CNY"
	}
	return "USD"
}
