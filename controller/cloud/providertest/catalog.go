package providertest

import (
	"testing"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

func testCatalog(t *testing.T, h *Harness) {
	catalog, err := h.Provider.Catalog(t.Context(), h.NodeClass)
	if err != nil {
		t.Fatalf("catalogue: %v", err)
	}
	if catalog.NodeClass != h.NodeClass {
		t.Errorf("catalogue of %q, want %q", catalog.NodeClass, h.NodeClass)
	}
	seen := map[string]bool{}
	for i := range catalog.Types {
		it := &catalog.Types[i]
		if seen[it.Name] {
			t.Errorf("%s occurs twice", it.Name)
		}
		seen[it.Name] = true
		for _, name := range []string{model.CPU, model.Memory, model.PodSlots} {
			if it.Allocatable[name] <= 0 || it.Allocatable[name] > it.Capacity[name] {
				t.Errorf("%s: %d of %d %s allocatable", it.Name, it.Allocatable[name], it.Capacity[name], name)
			}
		}
		for _, o := range it.Offerings {
			if o.Price <= 0 || o.Zone == "" {
				t.Errorf("%s: offering %+v without price or zone", it.Name, o)
			}
		}
	}
	again, err := h.Provider.Catalog(t.Context(), h.NodeClass)
	if err != nil || again.Generation != catalog.Generation {
		t.Errorf("generation %d, then %d (%v), and nothing happened in between", catalog.Generation, again.Generation, err)
	}
	_, err = h.Provider.Catalog(t.Context(), "no-such-class")
	wantKind(t, "catalogue of an unknown class", err, provider.ClassNotReady)
}

func available(t *testing.T, catalog *model.Catalog, option *model.Option) bool {
	t.Helper()
	for i := range catalog.Types {
		if catalog.Types[i].Name != option.InstanceType {
			continue
		}
		for _, o := range catalog.Types[i].Offerings {
			if o.Zone == option.Zone && o.CapacityType == option.CapacityType {
				return o.Available
			}
		}
	}
	t.Fatalf("%+v is not in the catalogue", *option)
	return false
}
