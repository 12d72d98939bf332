package providertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

func testListIsEmptyFirst(t *testing.T, h *Harness) {
	got, err := h.Provider.List(t.Context())
	if err != nil || len(got) != 0 {
		t.Errorf("List = %v, %v; want nothing", got, err)
	}
}

func testManyInstances(t *testing.T, h *Harness) {
	const n = 12
	options := h.options(t, model.OnDemand, 1)
	var want []string
	for i := range n {
		claim := fmt.Sprintf("claim-%02d", i)
		want = append(want, claim)
		h.launch(t, h.spec(claim, options...))
	}
	got, err := h.Provider.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, claims(got)); diff != "" {
		t.Errorf("listed claims (-want +got):\n%s", diff)
	}
	h.wantLiving(t, want...)
}

func testTerminate(t *testing.T, h *Harness) {
	options := h.options(t, model.OnDemand, 1)
	gone := h.launch(t, h.spec("claim-a", options...))
	h.launch(t, h.spec("claim-b", options...))
	if err := h.Provider.Terminate(t.Context(), gone.ProviderID); err != nil {
		t.Fatalf("terminate: %v", err)
	}
	if i, err := h.Provider.Get(t.Context(), gone.ProviderID); err == nil && i.State == "running" && h.Lag == nil {
		t.Errorf("state %s right after termination", i.State)
	}
	h.eventually(t, "terminated", func() bool {
		_, err := h.Provider.Get(t.Context(), gone.ProviderID)
		return err != nil && provider.KindOf(err) == provider.NotFound
	})
	wantKind(t, "terminate again", h.Provider.Terminate(t.Context(), gone.ProviderID), provider.NotFound)
	got, err := h.Provider.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"claim-b"}, claims(got)); diff != "" {
		t.Errorf("listed claims (-want +got):\n%s", diff)
	}
	h.wantLiving(t, "claim-b")
}

func testTag(t *testing.T, h *Harness) {
	i := h.launch(t, h.spec("claim-a", h.options(t, model.OnDemand, 1)...))
	for _, value := range []string{"one", "two"} {
		if err := h.Provider.Tag(t.Context(), i.ProviderID, map[string]string{"Name": value}); err != nil {
			t.Fatalf("tag: %v", err)
		}
	}
	h.eventually(t, "tags visible", func() bool {
		seen, err := h.Provider.Get(t.Context(), i.ProviderID)
		return err == nil && seen.Tags["Name"] == "two" && seen.Tags["spokeshave.dev/test"] == "yes" && seen.Claim == "claim-a"
	})
}

func testUnknown(t *testing.T, h *Harness) {
	_, err := h.Provider.Get(t.Context(), h.UnknownID)
	wantKind(t, "get", err, provider.NotFound)
	wantKind(t, "terminate", h.Provider.Terminate(t.Context(), h.UnknownID), provider.NotFound)
	wantKind(t, "tag", h.Provider.Tag(t.Context(), h.UnknownID, map[string]string{"a": "b"}), provider.NotFound)
}

func testLag(t *testing.T, h *Harness) {
	options := h.options(t, model.OnDemand, 1)
	h.Lag(t, 20*time.Second)
	i := h.launch(t, h.spec("claim-a", options...))
	for range 6 {
		seen, err := h.Provider.Get(t.Context(), i.ProviderID)
		if err != nil || seen.ProviderID != i.ProviderID {
			t.Fatalf("get during the lag: %+v, %v", seen, err)
		}
		list, err := h.Provider.List(t.Context())
		if err != nil {
			t.Fatalf("list during the lag: %v", err)
		}
		if diff := cmp.Diff([]string{"claim-a"}, claims(list)); diff != "" {
			t.Fatalf("list during the lag (-want +got):\n%s", diff)
		}
		h.Advance(5 * time.Second)
	}
	err := h.Provider.Terminate(t.Context(), i.ProviderID)
	if err != nil {
		t.Fatalf("terminate: %v", err)
	}
	h.eventually(t, "terminated", func() bool {
		_, err := h.Provider.Get(t.Context(), i.ProviderID)
		return err != nil && provider.KindOf(err) == provider.NotFound
	})
}
