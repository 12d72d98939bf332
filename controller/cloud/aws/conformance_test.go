package aws_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	clocktesting "k8s.io/utils/clock/testing"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/cloud/providertest"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/test/kit/ec2"
	"spokeshave.dev/test/kit/ec2provider"
)

const region = ec2.Region

// simulatedEC2 is an EC2 endpoint with a clock of its own, and a provider on it.
type simulatedEC2 struct {
	server   *sim.Server
	clock    *clocktesting.FakeClock
	provider *aws.Provider
	url      string
	classes  map[string]*awsv1.EC2NodeClass
	// groups counts the groups of claims prepared together.
	groups int
	// theirs are the claims whose instances Karpenter left.
	theirs []string
	// refusals says that a fault was ordered that a person has to mend.
	refusals bool
}

func newEC2(t testing.TB) *simulatedEC2 {
	t.Helper()
	return newEC2Of(t, "m5.", "m7i.", "m7g.", "c7g.", "g5.", "inf2.")
}

// newEC2Of has the types that begin with any of the prefixes.
func newEC2Of(t testing.TB, prefixes ...string) *simulatedEC2 {
	t.Helper()
	return newEC2With(t, prefixes, func(*sim.Config) {})
}

// newEC2Under has the types that begin with m7i, and refuses what the policy does not
// allow.
func newEC2Under(t testing.TB, p *policy.Document) *simulatedEC2 {
	t.Helper()
	return newEC2With(t, []string{"m7i."}, ec2.Under(p))
}

func newEC2With(t testing.TB, prefixes []string, change func(*sim.Config)) *simulatedEC2 {
	t.Helper()
	w := &simulatedEC2{
		clock:   clocktesting.NewFakeClock(time.Date(2026, 8, 3, 10, 0, 0, 0, time.UTC)),
		classes: map[string]*awsv1.EC2NodeClass{},
	}
	at := ec2.Start(t, prefixes, func(cfg *sim.Config) {
		cfg.Clock, cfg.PendingDelay, cfg.ShutdownDelay = w.clock, 5*time.Second, 10*time.Second
	}, change)
	w.server, w.url = at.Server, at.URL
	w.provider = w.newProvider(t, w.url)
	w.refresh(t)
	w.class(t, "default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
	return w
}

// refresh reads what is due of types and prices, as the controller does in the background.
// What cannot be read is asked for again later.
func (w *simulatedEC2) refresh(t testing.TB) {
	t.Helper()
	if err := w.provider.Sources().Refresh(t.Context()); err != nil {
		t.Logf("refresh: %v", err)
	}
}

// newProvider is a controller that has just started: it remembers nothing.
func (w *simulatedEC2) newProvider(t testing.TB, url string, change ...func(*aws.Config)) *aws.Provider {
	t.Helper()
	ours := func(cfg *aws.Config) {
		cfg.Clock, cfg.Log, cfg.QuotaShare = w.clock.Now, testr.NewWithInterface(t, testr.Options{}), 1000
		cfg.Classes = func(_ context.Context, name string) (*awsv1.EC2NodeClass, error) { return w.classes[name], nil }
	}
	return ec2provider.New(t, url, slices.Concat([]func(*aws.Config){ec2provider.WithoutRetries, ours}, change)...)
}

// class makes a class and resolves it.
func (w *simulatedEC2) class(t testing.TB, name string, images ...awsv1.AMISelectorTerm) *awsv1.EC2NodeClass {
	t.Helper()
	class := ec2provider.NodeClass(name, images...)
	w.classes[name] = class
	w.resolve(t, class)
	return class
}

func (w *simulatedEC2) resolve(t testing.TB, class *awsv1.EC2NodeClass) {
	t.Helper()
	w.resolveAt(t, class, w.clock.Now)
}

// resolveAt resolves a class by another clock than the endpoint's.
func (w *simulatedEC2) resolveAt(t testing.TB, class *awsv1.EC2NodeClass, now func() time.Time) {
	t.Helper()
	resolver := nodeclass.Resolver{Cloud: w.provider.NodeClasses(), Clock: now}
	status, err := resolver.Resolve(t.Context(), class)
	if err != nil {
		t.Fatalf("resolve %s: %v", class.Name, err)
	}
	class.Status = status
}

func (w *simulatedEC2) order(t testing.TB, f sim.Fault) {
	t.Helper()
	if _, err := w.server.Order(f); err != nil {
		t.Fatal(err)
	}
}

func (w *simulatedEC2) setFree(t testing.TB, free *int, options ...model.Option) {
	t.Helper()
	var pools []sim.Capacity
	for _, o := range options {
		pools = append(pools, sim.Capacity{Type: o.InstanceType, Zone: o.Zone, CapacityType: o.CapacityType, Free: free})
	}
	if err := w.server.SetCapacity(pools); err != nil {
		t.Fatal(err)
	}
}

// living are the claims with instances, those of Karpenter left out.
func (w *simulatedEC2) living() []string {
	var out []string
	for _, i := range w.server.State().Instances {
		claim := i.Tags[awsv1.TagNodeClaim]
		if (i.State == "pending" || i.State == "running") && !slices.Contains(w.theirs, claim) {
			out = append(out, claim)
		}
	}
	return out
}

func (w *simulatedEC2) harness() providertest.Harness {
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
	providertest.Run(t, func(t *testing.T) providertest.Harness { return newEC2(t).harness() })
}

// The same when every call passes the IAM policy of this project or of Karpenter.
func TestConformanceUnderPolicies(t *testing.T) {
	if testing.Short() {
		t.Skip("TestConformance runs the same code")
	}
	for name, p := range ec2.Policies(t) {
		t.Run(name, func(t *testing.T) {
			providertest.Run(t, func(t *testing.T) providertest.Harness {
				return newEC2With(t, []string{"m5.", "m7i.", "m7g.", "c7g."}, ec2.Under(p)).harness()
			})
		})
	}
}
