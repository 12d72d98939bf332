package aws_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/go-logr/logr/testr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/cloud/providertest"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

const region = "us-west-2"

// world is an EC2 endpoint with a clock of its own, and a provider on it.
type world struct {
	server   *sim.Server
	clock    *clocktesting.FakeClock
	provider *aws.Provider
	url      string
	classes  map[string]*awsv1.EC2NodeClass
	// groups counts the groups of claims prepared together.
	groups int
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOf(t, "m5.", "m7i.", "m7g.", "c7g.", "g5.", "inf2.")
}

// newWorldOf has the types that begin with any of the prefixes.
func newWorldOf(t testing.TB, prefixes ...string) *world {
	t.Helper()
	types, sales, err := catalog.Load(region)
	if err != nil {
		t.Fatal(err)
	}
	types = slices.DeleteFunc(types, func(it catalog.Type) bool {
		return !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(it.Name, p) })
	})
	sales = slices.DeleteFunc(sales, func(sale catalog.Sale) bool {
		return !slices.ContainsFunc(types, func(it catalog.Type) bool { return it.Name == sale.Type })
	})
	w := &world{
		clock:   clocktesting.NewFakeClock(time.Date(2026, 8, 3, 10, 0, 0, 0, time.UTC)),
		classes: map[string]*awsv1.EC2NodeClass{},
	}
	w.server, err = sim.New(sim.Config{
		Region: region, Cluster: "demo", ClusterCA: "Q0E=", Seed: 1, Clock: w.clock, Types: types, Sales: sales,
		PendingDelay: 5 * time.Second, ShutdownDelay: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(w.server)
	t.Cleanup(listener.Close)
	w.url = listener.URL
	w.provider = w.newProvider(t, w.url)
	w.class(t, "default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
	return w
}

// newProvider is a controller that has just started: it remembers nothing.
func (w *world) newProvider(t testing.TB, url string, change ...func(*aws.Config)) *aws.Provider {
	t.Helper()
	cfg := aws.Config{
		SDK: &sdk.Config{
			Region: region, BaseEndpoint: sdk.String(url),
			Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", ""),
			Retryer:     func() sdk.Retryer { return sdk.NopRetryer{} },
		},
		ClusterName: "demo", Clock: w.clock.Now, Log: testr.NewWithInterface(t, testr.Options{}), QuotaShare: 1000,
		Classes: func(_ context.Context, name string) (*awsv1.EC2NodeClass, error) { return w.classes[name], nil },
	}
	for _, c := range change {
		c(&cfg)
	}
	p, err := aws.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// class makes a class and resolves it.
func (w *world) class(t testing.TB, name string, images ...awsv1.AMISelectorTerm) *awsv1.EC2NodeClass {
	t.Helper()
	discovery := map[string]string{"karpenter.sh/discovery": "demo"}
	class := &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec: awsv1.EC2NodeClassSpec{
			Role:                       "KarpenterNodeRole-demo",
			AMISelectorTerms:           images,
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: discovery}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: discovery}},
		},
	}
	w.classes[name] = class
	w.resolve(t, class)
	return class
}

func (w *world) resolve(t testing.TB, class *awsv1.EC2NodeClass) {
	t.Helper()
	resolver := nodeclass.Resolver{Cloud: w.provider.NodeClasses(), Clock: w.clock.Now}
	status, err := resolver.Resolve(t.Context(), class)
	if err != nil {
		t.Fatalf("resolve %s: %v", class.Name, err)
	}
	class.Status = status
}

func (w *world) order(t testing.TB, f sim.Fault) {
	t.Helper()
	if _, err := w.server.Order(f); err != nil {
		t.Fatal(err)
	}
}

func (w *world) setFree(t testing.TB, free *int, options ...model.Option) {
	t.Helper()
	var pools []sim.Capacity
	for _, o := range options {
		pools = append(pools, sim.Capacity{Type: o.InstanceType, Zone: o.Zone, CapacityType: o.CapacityType, Free: free})
	}
	if err := w.server.SetCapacity(pools); err != nil {
		t.Fatal(err)
	}
}

func (w *world) living() []string {
	var out []string
	for _, i := range w.server.State().Instances {
		if i.State == "pending" || i.State == "running" {
			out = append(out, i.Tags[awsv1.TagNodeClaim])
		}
	}
	return out
}

func (w *world) harness() providertest.Harness {
	return providertest.Harness{
		Provider:   w.provider,
		NodeClass:  "default",
		UnknownID:  "aws:///us-west-2a/i-0123456789abcdef0",
		Advance:    func(d time.Duration) { w.clock.Step(d) },
		SellOut:    func(t testing.TB, o ...model.Option) { w.setFree(t, new(0), o...) },
		Restock:    func(t testing.TB, o ...model.Option) { w.setFree(t, nil, o...) },
		LoseLaunch: func(t testing.TB) { w.order(t, sim.Fault{Action: "CreateFleet", AfterSuccess: true}) },
		Lag:        func(_ testing.TB, d time.Duration) { w.server.Set(sim.Settings{Lag: &sim.Duration{Duration: d}}) },
		Living:     func(testing.TB) []string { return w.living() },
	}
}

func TestConformance(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.Harness { return newWorld(t).harness() })
}
