package aws_test

import (
	"slices"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

func (w *simulatedEC2) catalog(t *testing.T, class string) model.Catalog {
	t.Helper()
	w.refresh(t)
	got, err := w.provider.Catalog(t.Context(), class)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func find(t *testing.T, c *model.Catalog, name string) *model.InstanceType {
	t.Helper()
	i := slices.IndexFunc(c.Types, func(it model.InstanceType) bool { return it.Name == name })
	if i < 0 {
		t.Fatalf("%s is not among %d types", name, len(c.Types))
	}
	return &c.Types[i]
}

// What EC2 says and what the embedded catalogue says of a type must come to
// the same node.
func TestCatalogIsTheEmbeddedOne(t *testing.T) {
	w := newEC2Of(t, "") // all
	got := w.catalog(t, "default")
	types, sales, err := catalog.Load(region)
	if err != nil {
		t.Fatal(err)
	}
	want := catalog.Lower(types, sales, catalog.Options{NodeClass: "default", Region: region})
	if len(got.Types) < 700 {
		t.Errorf("%d types, want most of the %d embedded ones", len(got.Types), len(want.Types))
	}
	differ := 0
	for i := range got.Types {
		g := got.Types[i]
		e := *find(t, &want, g.Name)
		g.Offerings, e.Offerings = withoutZoneIDs(g.Offerings), withoutZoneIDs(e.Offerings)
		if diff := cmp.Diff(e, g); diff != "" && differ < 3 {
			differ++
			t.Errorf("%s (-embedded +EC2):\n%s", g.Name, diff)
		}
	}
}

func withoutZoneIDs(in []model.Offering) []model.Offering {
	out := slices.Clone(in)
	for i := range out {
		out[i].ZoneID = ""
		if out[i].CapacityType == model.Spot {
			// Spot prices move between history and catalogue.
			out[i].Price = 0
		}
	}
	return out
}

func TestCatalogFollowsTheClass(t *testing.T) {
	w := newEC2(t)
	plain := w.catalog(t, "default")
	class := w.class(t, "narrow", awsv1.AMISelectorTerm{Alias: "bottlerocket@latest"})
	class.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: class.Status.Subnets[0].ID}}
	class.Spec.Kubelet = &awsv1.KubeletConfiguration{
		MaxPods:        sdk.Int32(20),
		SystemReserved: map[string]string{"cpu": "100m", "memory": "1Gi"},
		EvictionHard:   map[string]string{"memory.available": "10%"},
	}
	w.resolve(t, class)
	class.Status.AMIs = slices.DeleteFunc(class.Status.AMIs, func(a awsv1.AMI) bool { return !slices.Equal(a.Requirements[0].Values, []string{"arm64"}) })
	narrow := w.catalog(t, "narrow")
	for i := range narrow.Types {
		it := &narrow.Types[i]
		if it.Arch != "arm64" {
			t.Fatalf("%s is %s and no image is", it.Name, it.Arch)
		}
		for _, o := range it.Offerings {
			if o.Zone != class.Status.Subnets[0].Zone || o.ZoneID == "" {
				t.Fatalf("%s is offered in %q (%q), the only subnet is in %q", it.Name, o.Zone, o.ZoneID, class.Status.Subnets[0].Zone)
			}
		}
	}
	before, after := find(t, &plain, "m7g.xlarge"), find(t, &narrow, "m7g.xlarge")
	if after.Allocatable[model.PodSlots] != 20 {
		t.Errorf("%d pods, want maxPods 20", after.Allocatable[model.PodSlots])
	}
	if d := before.Allocatable[model.CPU] - after.Allocatable[model.CPU]; d != 100 {
		t.Errorf("system-reserved takes %d millicores, want 100", d)
	}
	// Fewer pods leave 11 MiB each; 10 % replaces the 100 MiB of eviction.
	const mib = 1 << 20
	want := before.Allocatable[model.Memory] + (before.Capacity[model.PodSlots]-20)*11*mib - 1024*mib + 100*mib - (before.Capacity[model.Memory]+9)/10
	if got := after.Allocatable[model.Memory]; got != want {
		t.Errorf("allocatable memory %d, want %d", got, want)
	}
}

func TestCatalogOfAClassThatIsNotReady(t *testing.T) {
	w := newEC2(t)
	for name, change := range map[string]func(*awsv1.EC2NodeClass){
		"new generation": func(c *awsv1.EC2NodeClass) { c.Generation++ },
		"never resolved": func(c *awsv1.EC2NodeClass) { c.Status = awsv1.EC2NodeClassStatus{} },
	} {
		class := w.class(t, "default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
		change(class)
		_, err := w.provider.Catalog(t.Context(), "default")
		if err == nil || provider.KindOf(err) != provider.ClassNotReady {
			t.Errorf("%s: %v, want ClassNotReady", name, err)
		}
	}
}

func TestCatalogFallsBackAndRecovers(t *testing.T) {
	w := newEC2(t)
	for _, action := range []string{"DescribeInstanceTypes", "DescribeSpotPriceHistory", "GetProducts"} {
		w.order(t, sim.Fault{Action: action, HTTPStatus: 503, Count: 1})
	}
	asked := w.server.State().Requests["DescribeInstanceTypeOfferings"][""]
	w.provider = w.newProvider(t, w.url)
	down := w.catalog(t, "default")
	if m5 := find(t, &down, "m5.large"); len(m5.Offerings) == 0 || m5.Offerings[0].Price == 0 {
		t.Fatalf("nothing to buy of %+v while AWS is down", m5)
	}
	if n := w.server.State().Requests["DescribeInstanceTypeOfferings"][""] - asked; n != 0 {
		t.Errorf("offerings were asked for %d times without types", n)
	}
	set := func(usd float64) {
		t.Helper()
		if err := w.server.SetPrices([]sim.Price{{Type: "m5.large", CapacityType: model.OnDemand, USD: usd}}); err != nil {
			t.Fatal(err)
		}
	}
	onDemand := func() model.Price {
		t.Helper()
		c := w.catalog(t, "default")
		return find(t, &c, "m5.large").Offerings[0].Price
	}
	set(0.5)
	w.clock.Step(time.Minute)
	if got := onDemand(); got == model.PriceOf(0.5) {
		t.Error("a failed call was repeated after a minute")
	}
	w.clock.Step(5 * time.Minute)
	if got := onDemand(); got != model.PriceOf(0.5) {
		t.Errorf("price %s after AWS came back, want 0.5", got)
	}
	set(0.6)
	w.clock.Step(11 * time.Hour)
	if got := onDemand(); got != model.PriceOf(0.5) {
		t.Errorf("price %s after 11 hours, want 0.5 still", got)
	}
	w.clock.Step(2 * time.Hour)
	if got := onDemand(); got != model.PriceOf(0.6) {
		t.Errorf("price %s after 13 hours, want 0.6", got)
	}
}

func TestCatalogAsksOnce(t *testing.T) {
	w := newEC2(t)
	w.catalog(t, "default")
	before := w.server.State().Requests
	for range 5 {
		w.catalog(t, "default")
	}
	if diff := cmp.Diff(before, w.server.State().Requests); diff != "" {
		t.Errorf("five more catalogues made requests:\n%s", diff)
	}
}

// How old what is known of the market is shows in a metric: 0 at first, then when it
// was read, and it stands still while AWS does not answer.
func TestMarketAge(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	registry := prometheus.NewPedanticRegistry()
	p := w.newProvider(t, w.url, func(c *aws.Config) { c.Metrics = registry })
	want := func(when string, at map[string]time.Time) {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			if f.GetName() != "spokeshave_aws_market_updated_timestamp_seconds" {
				continue
			}
			for _, m := range f.GetMetric() {
				got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
		seconds := map[string]float64{}
		for what, read := range at {
			if seconds[what] = 0; !read.IsZero() {
				seconds[what] = float64(read.Unix())
			}
		}
		if diff := cmp.Diff(seconds, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	list := func() {
		t.Helper()
		if err := p.Sources().Refresh(t.Context()); err != nil {
			t.Log(err)
		}
	}
	none, start := time.Time{}, w.clock.Now()
	want("before anything was asked", map[string]time.Time{"instance types": none, "on-demand prices": none, "spot prices": none, "volume prices": none, "capacity reservations": none})
	list()
	want("after the first answer", map[string]time.Time{"instance types": start, "on-demand prices": start, "spot prices": start, "volume prices": start, "capacity reservations": start})
	w.clock.Step(13 * time.Hour)
	w.order(t, sim.Fault{Action: "DescribeSpotPriceHistory", HTTPStatus: 500})
	list()
	now := w.clock.Now()
	want("after spot prices failed", map[string]time.Time{"instance types": now, "on-demand prices": now, "spot prices": start, "volume prices": now, "capacity reservations": now})
}
