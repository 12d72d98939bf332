package sim_test

import (
	"errors"
	"testing"
	"time"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/cloud/providertest"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

func start() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) }

func catalog() model.Catalog {
	out := instancetype.Catalog()
	out.Region, out.Generation = "sim-1", 7
	for name, price := range map[string]model.Price{"small": 50_000, "medium": 100_000, "large": 200_000} {
		t := instancetype.Of(name, model.Resources{model.CPU: int64(price) / 25, model.Memory: int64(price) << 16, model.PodSlots: 30})
		for _, zone := range []string{"sim-1a", "sim-1b"} {
			t.Offerings = append(t.Offerings, instancetype.OnDemand(zone, price), instancetype.Spot(zone, price/3))
		}
		out.Types = append(out.Types, t)
	}
	return out
}

func newCloud(t *testing.T) (*sim.Provider, *sim.Clock) {
	t.Helper()
	clock := sim.NewClock(start())
	p, err := sim.New(sim.Config{Clock: clock, Catalogs: map[string]model.Catalog{"default": catalog()}})
	if err != nil {
		t.Fatal(err)
	}
	return p, clock
}

func TestConformance(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providertest.Harness {
		p, clock := newCloud(t)
		return providertest.Harness{
			Provider:   p,
			NodeClass:  "default",
			UnknownID:  "sim:///sim-1a/i-0",
			Advance:    func(d time.Duration) { clock.Advance(d) },
			SellOut:    func(_ testing.TB, o ...model.Option) { p.SellOut(o...) },
			Restock:    func(_ testing.TB, o ...model.Option) { p.Restock(o...) },
			LoseLaunch: func(testing.TB) { p.Lose(sim.CallLaunch) },
			Living: func(testing.TB) []string {
				var out []string
				for _, m := range p.Machines() {
					if m.State == "pending" || m.State == "running" {
						out = append(out, m.Claim)
					}
				}
				return out
			},
		}
	})
}

func TestFaultsComeInOrder(t *testing.T) {
	p, _ := newCloud(t)
	throttled := &provider.Error{Kind: provider.Throttled, Err: errors.New("slow down")}
	p.Fail(sim.CallList, throttled)
	p.Fail(sim.CallList, &provider.Error{Kind: provider.Unauthorized, Err: errors.New("no")})
	for i, want := range []provider.Kind{provider.Throttled, provider.Unauthorized} {
		if _, err := p.List(t.Context()); err == nil || provider.KindOf(err) != want {
			t.Errorf("call %d: %v, want kind %s", i, err, want)
		}
	}
	if _, err := p.List(t.Context()); err != nil {
		t.Errorf("the faults are used up and List says %v", err)
	}
}

func TestInterrupt(t *testing.T) {
	p, clock := newCloud(t)
	attempt, err := p.Prepare(t.Context(), provider.LaunchSpec{
		Claim: "a", NodePool: "general", NodeClass: "default",
		Options: []model.Option{{InstanceType: "small", Zone: "sim-1a", CapacityType: model.Spot}},
	})
	if err != nil {
		t.Fatal(err)
	}
	i, err := p.Launch(t.Context(), attempt)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Interrupt(i.ProviderID); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Get(t.Context(), i.ProviderID); err != nil || got.State != "shutting-down" {
		t.Errorf("interrupted instance is %q (%v), want shutting-down", got.State, err)
	}
	clock.Advance(time.Minute)
	if _, err := p.Get(t.Context(), i.ProviderID); provider.KindOf(err) != provider.NotFound {
		t.Errorf("a minute later: %v, want NotFound", err)
	}
}

func TestTokenReused(t *testing.T) {
	p, _ := newCloud(t)
	spec := provider.LaunchSpec{
		Claim: "a", NodePool: "general", NodeClass: "default",
		Options: []model.Option{{InstanceType: "small", Zone: "sim-1a", CapacityType: model.OnDemand}},
	}
	attempt, err := p.Prepare(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Launch(t.Context(), attempt); err != nil {
		t.Fatal(err)
	}
	spec.Claim = "b"
	other, err := p.Prepare(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	other.Token = attempt.Token
	if _, err := p.Launch(t.Context(), other); err == nil || provider.KindOf(err) != provider.Invalid {
		t.Errorf("a token with another request: %v, want Invalid", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]sim.Config{
		"no clock":     {Catalogs: map[string]model.Catalog{"default": {}}},
		"no catalogue": {Clock: sim.NewClock(start())},
	} {
		if _, err := sim.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
