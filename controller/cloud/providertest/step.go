package providertest

import (
	"slices"
	"testing"
	"time"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// options returns n available offerings of the capacity type, cheapest first, of
// different instance types.
func (h *Harness) options(t *testing.T, capacityType model.CapacityType, n int) []model.Option {
	t.Helper()
	catalog, err := h.Provider.Catalog(t.Context(), h.NodeClass)
	if err != nil {
		t.Fatalf("catalogue of %s: %v", h.NodeClass, err)
	}
	var all []model.Option
	for i := range catalog.Types {
		for _, o := range catalog.Types[i].Offerings {
			if o.Available && o.CapacityType == capacityType {
				all = append(all, model.Option{
					InstanceType: catalog.Types[i].Name, Zone: o.Zone, CapacityType: o.CapacityType,
					Price: o.Price, Effective: o.Price.USD(),
				})
				break
			}
		}
	}
	slices.SortStableFunc(all, func(a, b model.Option) int { return int(a.Price - b.Price) })
	if len(all) < n {
		t.Fatalf("the catalogue sells %d types %s, the suite needs %d", len(all), capacityType, n)
	}
	return all[:n]
}

func (h *Harness) spec(claim string, options ...model.Option) provider.LaunchSpec {
	return provider.LaunchSpec{
		Claim: claim, NodePool: "general", NodeClass: h.NodeClass, Options: options,
		Labels: map[string]string{"karpenter.sh/nodepool": "general", "team": "shaves"},
		Tags:   map[string]string{"spokeshave.dev/test": "yes"},
	}
}

func (h *Harness) prepare(t *testing.T, spec provider.LaunchSpec) provider.Attempt {
	t.Helper()
	attempt, err := h.Provider.Prepare(t.Context(), spec)
	if err != nil {
		t.Fatalf("prepare %s: %v", spec.Claim, err)
	}
	return attempt
}

func (h *Harness) launch(t *testing.T, spec provider.LaunchSpec) provider.Instance {
	t.Helper()
	instance, err := h.Provider.Launch(t.Context(), h.prepare(t, spec))
	if err != nil {
		t.Fatalf("launch %s: %v", spec.Claim, err)
	}
	return instance
}

// eventually advances the cloud's time until done returns true, and fails the test if
// it never does.
func (h *Harness) eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 60 {
		if done() {
			return
		}
		h.Advance(5 * time.Second)
	}
	t.Fatalf("%s: not after five minutes of the cloud's time", what)
}

func (h *Harness) wantLiving(t *testing.T, want ...string) {
	t.Helper()
	if h.Living == nil {
		return
	}
	got := h.Living(t)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("instances exist for claims %q, want %q", got, want)
	}
}

func wantKind(t *testing.T, what string, err error, want provider.Kind) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want kind %s", what, want)
		return
	}
	if got := provider.KindOf(err); got != want {
		t.Errorf("%s: kind %s, want %s: %v", what, got, want, err)
	}
}

func claims(instances []provider.Instance) []string {
	out := make([]string, 0, len(instances))
	for i := range instances {
		out = append(out, instances[i].Claim)
	}
	slices.Sort(out)
	return out
}
