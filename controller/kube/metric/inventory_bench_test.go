package metric

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

// BenchmarkScrape reports what gathering the metrics of 1,000 nodes and 5,600
// offerings allocates; all of it is held until the last has been sent.
func BenchmarkScrape(b *testing.B) {
	types := make([]model.InstanceType, 700)
	for i := range types {
		types[i] = instancetype.Of(fmt.Sprintf("m%d.large", i), model.Resources{model.CPU: 2000})
		for _, zone := range []string{"a", "b", "c", "d"} {
			types[i].Offerings = append(types[i].Offerings, instancetype.Spot(zone, 1), instancetype.OnDemand(zone, 1))
		}
	}
	s := &model.Snapshot{Time: seen().Time, Pools: []model.Pool{{Name: "general"}}, Catalogs: []model.Catalog{instancetype.Catalog(types...)}}
	for i := range 1000 {
		s.Nodes = append(s.Nodes, model.Node{
			Name: fmt.Sprintf("node-%d", i), InstanceType: "m1.large", Zone: "a", CapacityType: model.Spot, LaunchedAt: seen().Time.Add(-time.Hour),
			Allocatable: model.Resources{model.CPU: 2000, model.Memory: 8 << 30, model.PodSlots: 29, model.EphemeralStorage: 20 << 30},
		})
	}
	v := newInventory()
	v.observe(s)
	reg := prometheus.NewRegistry()
	reg.MustRegister(v)
	b.ReportAllocs()
	for b.Loop() {
		families, err := reg.Gather()
		if err != nil || len(families) != 8 {
			b.Fatalf("%d families, %v", len(families), err)
		}
	}
}
