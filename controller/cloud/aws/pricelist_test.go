package aws_test

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

// No type loses its on-demand offerings because no list has its price: where the Price
// List service is not asked, is denied, or does not list it, the embedded catalogue's
// price serves, else one that is derived from it.
func TestEveryTypeHasAPrice(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		setup  func(*testing.T, *simulatedEC2) func(*aws.Config)
	}{
		"isolated": {"the service is not asked", func(*testing.T, *simulatedEC2) func(*aws.Config) {
			return func(c *aws.Config) { c.Isolated = true }
		}},
		"denied": {"the role may not ask it", func(t *testing.T, w *simulatedEC2) func(*aws.Config) {
			w.order(t, sim.Fault{Action: "GetProducts", Code: "AccessDeniedException", HTTPStatus: 400, Forever: true})
			return func(*aws.Config) {}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2With(t, []string{"m7i."}, func(cfg *sim.Config) {
				// A type that is newer than the catalogue.
				at := slices.IndexFunc(cfg.Types, func(it catalog.Type) bool { return it.Name == "m7i.large" })
				newer, sale := cfg.Types[at], cfg.Sales[slices.IndexFunc(cfg.Sales, func(s catalog.Sale) bool { return s.Type == "m7i.large" })]
				newer.Name, sale.Type = "m77i.large", "m77i.large"
				cfg.Types, cfg.Sales = append(cfg.Types, newer), append(cfg.Sales, sale)
			})
			registry := prometheus.NewPedanticRegistry()
			w.provider = w.newProvider(t, w.url, c.setup(t, w), func(cfg *aws.Config) { cfg.Metrics = registry })
			got := w.catalog(t, "default")
			for _, name := range []string{"m7i.large", "m77i.large"} {
				var onDemand []model.Offering
				for _, o := range find(t, &got, name).Offerings {
					if o.CapacityType == model.OnDemand {
						onDemand = append(onDemand, o)
					}
				}
				if len(onDemand) == 0 || onDemand[0].Price <= 0 || onDemand[0].Estimated != (name == "m77i.large") {
					t.Errorf("%s: on demand %s is offered as %+v", c.reason, name, onDemand)
				}
			}
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				if f.GetName() == "spokeshave_aws_estimated_prices" && f.GetMetric()[0].GetGauge().GetValue() != 1 {
					t.Errorf("the metric says %v, want 1 type", f.GetMetric())
				}
			}
		})
	}
}
