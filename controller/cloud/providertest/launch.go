package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

func testLaunch(t *testing.T, h *Harness) {
	options := h.options(t, model.OnDemand, 2)
	got := h.launch(t, h.spec("claim-a", options...))
	if got.InstanceType != options[0].InstanceType || got.Zone != options[0].Zone || got.CapacityType != model.OnDemand {
		t.Errorf("launched %s %s in %s, want the best option %+v", got.CapacityType, got.InstanceType, got.Zone, options[0])
	}
	if got.ProviderID == "" || got.Claim != "claim-a" || got.NodePool != "general" {
		t.Errorf("launched %+v: want a provider ID, claim claim-a and pool general", got)
	}
	seen, err := h.Provider.Get(t.Context(), got.ProviderID)
	if err != nil {
		t.Fatalf("get %s: %v", got.ProviderID, err)
	}
	type facts struct {
		ID, Type, Zone, Claim, Pool string
		CapacityType                model.CapacityType
	}
	of := func(i provider.Instance) facts {
		return facts{ID: i.ProviderID, Type: i.InstanceType, Zone: i.Zone, Claim: i.Claim, Pool: i.NodePool, CapacityType: i.CapacityType}
	}
	if diff := cmp.Diff(of(got), of(seen)); diff != "" {
		t.Errorf("Get disagrees with Launch (-launch +get):\n%s", diff)
	}
	if seen.ImageID == "" || seen.Hostname == "" || seen.LaunchTime.IsZero() {
		t.Errorf("get %+v: want image, host name and launch time", seen)
	}
	if seen.Tags["spokeshave.dev/test"] != "yes" {
		t.Errorf("tags %v lack the one of the spec", seen.Tags)
	}
	h.eventually(t, "running", func() bool {
		i, err := h.Provider.Get(t.Context(), got.ProviderID)
		return err == nil && i.State == "running"
	})
	h.wantLiving(t, "claim-a")
}

func testPrepareSame(t *testing.T, h *Harness) {
	spec := h.spec("claim-a", h.options(t, model.OnDemand, 2)...)
	first, again := h.prepare(t, spec), h.prepare(t, spec)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("two attempts of one spec differ:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"claim-a"}, first.Claims); diff != "" {
		t.Errorf("claims:\n%s", diff)
	}
	spec.Ordinal = 1
	if next := h.prepare(t, spec); next.Token == first.Token || next.Ordinal != 1 {
		t.Errorf("attempt 1 has token %s and ordinal %d; attempt 0 had token %s", next.Token, next.Ordinal, first.Token)
	}
	other := spec
	other.Ordinal, other.Claim = 0, "claim-b"
	if b := h.prepare(t, other); b.Token == first.Token {
		t.Error("two claims share a token")
	}
	h.wantLiving(t)
}

func testPrepareRefuses(t *testing.T, h *Harness) {
	options := h.options(t, model.OnDemand, 1)
	_, err := h.Provider.Prepare(t.Context(), h.spec("claim-a"))
	wantKind(t, "prepare without options", err, provider.Invalid)

	spec := h.spec("claim-a", options...)
	spec.NodeClass = "no-such-class"
	_, err = h.Provider.Prepare(t.Context(), spec)
	wantKind(t, "prepare for an unknown class", err, provider.ClassNotReady)

	wrong := options[0]
	wrong.InstanceType = "z9.nosuchsize"
	_, err = h.Provider.Prepare(t.Context(), h.spec("claim-a", wrong))
	wantKind(t, "prepare an unknown type", err, provider.Invalid)

	wrong = options[0]
	wrong.Zone = "nowhere-1a"
	_, err = h.Provider.Prepare(t.Context(), h.spec("claim-a", wrong))
	wantKind(t, "prepare in an unknown zone", err, provider.Invalid)
	h.wantLiving(t)
}

func testReplay(t *testing.T, h *Harness) {
	attempt := h.prepare(t, h.spec("claim-a", h.options(t, model.OnDemand, 2)...))
	first, err := h.Provider.Launch(t.Context(), attempt)
	if err != nil {
		t.Fatalf("launch: %v", err)
	}
	raw, err := json.Marshal(attempt)
	if err != nil {
		t.Fatal(err)
	}
	var read provider.Attempt
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	again, err := h.Provider.Launch(t.Context(), read)
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	if first.ProviderID != again.ProviderID {
		t.Errorf("the replay started %s beside %s", again.ProviderID, first.ProviderID)
	}
	h.wantLiving(t, "claim-a")
}

func testReplayAtOnce(t *testing.T, h *Harness) {
	attempt := h.prepare(t, h.spec("claim-a", h.options(t, model.OnDemand, 1)...))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := h.Provider.Launch(t.Context(), attempt); err != nil && provider.KindOf(err).Definitive() {
				t.Errorf("one of several equal launches failed for good: %v", err)
			}
		})
	}
	wg.Wait()
	if _, err := h.Provider.Launch(t.Context(), attempt); err != nil {
		t.Errorf("launch after the rush: %v", err)
	}
	h.wantLiving(t, "claim-a")
}

func testLostAnswer(t *testing.T, h *Harness) {
	attempt := h.prepare(t, h.spec("claim-a", h.options(t, model.OnDemand, 1)...))
	h.LoseLaunch(t)
	if _, err := h.Provider.Launch(t.Context(), attempt); err != nil && provider.KindOf(err).Definitive() {
		t.Fatalf("a lost answer is taken for a definitive failure: %v", err)
	}
	got, err := h.Provider.Launch(t.Context(), attempt)
	if err != nil {
		t.Fatalf("repeat: %v", err)
	}
	if got.Claim != "claim-a" {
		t.Errorf("the repeat found %+v", got)
	}
	h.wantLiving(t, "claim-a")
}

func testOverContext(t *testing.T, h *Harness) {
	attempt := h.prepare(t, h.spec("claim-a", h.options(t, model.OnDemand, 1)...))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.Provider.Launch(over, attempt)
	wantKind(t, "launch with a cancelled context", err, provider.Unavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error hides its cause: %v", err)
	}
	if _, err := h.Provider.Launch(t.Context(), attempt); err != nil {
		t.Errorf("launch afterwards: %v", err)
	}
	h.wantLiving(t, "claim-a")
}

func testNextOption(t *testing.T, h *Harness) {
	options := h.options(t, model.OnDemand, 2)
	h.SellOut(t, options[0])
	got := h.launch(t, h.spec("claim-a", options...))
	if got.InstanceType != options[1].InstanceType {
		t.Errorf("launched %s, want the second option %s", got.InstanceType, options[1].InstanceType)
	}
	h.wantLiving(t, "claim-a")
}

func testSoldOut(t *testing.T, h *Harness) {
	options := h.options(t, model.OnDemand, 2)
	before, err := h.Provider.Catalog(t.Context(), h.NodeClass)
	if err != nil {
		t.Fatal(err)
	}
	h.SellOut(t, options...)
	spec := h.spec("claim-a", options...)
	attempt := h.prepare(t, spec)
	_, err = h.Provider.Launch(t.Context(), attempt)
	wantKind(t, "launch sold-out options", err, provider.InsufficientCapacity)
	wantOfferings(t, err, options)

	during, err := h.Provider.Catalog(t.Context(), h.NodeClass)
	if err != nil {
		t.Fatal(err)
	}
	for i := range options {
		if available(t, &during, &options[i]) {
			t.Errorf("%+v is sold out and still available in the catalogue", options[i])
		}
	}
	if during.Generation == before.Generation {
		t.Error("the catalogue changed and its generation did not")
	}

	h.Restock(t, options...)
	_, err = h.Provider.Launch(t.Context(), attempt)
	wantKind(t, "replay of a failed attempt", err, provider.InsufficientCapacity)
	spec.Ordinal++
	h.launch(t, spec)
	h.Advance(4 * time.Minute)
	after, err := h.Provider.Catalog(t.Context(), h.NodeClass)
	if err != nil {
		t.Fatal(err)
	}
	for i := range options {
		if !available(t, &after, &options[i]) {
			t.Errorf("%+v is still marked sold out after four minutes", options[i])
		}
	}
	h.wantLiving(t, "claim-a")
}

func testOneCapacityType(t *testing.T, h *Harness) {
	onDemand, spot := h.options(t, model.OnDemand, 2), h.options(t, model.Spot, 1)
	h.SellOut(t, onDemand...)
	spec := h.spec("claim-a", onDemand[0], spot[0], onDemand[1])
	_, err := h.Provider.Launch(t.Context(), h.prepare(t, spec))
	wantKind(t, "launch with the first capacity type sold out", err, provider.InsufficientCapacity)
	wantOfferings(t, err, onDemand[:1])
	h.wantLiving(t)
}

func testSpot(t *testing.T, h *Harness) {
	options := h.options(t, model.Spot, 1)
	got := h.launch(t, h.spec("claim-a", options...))
	seen, err := h.Provider.Get(t.Context(), got.ProviderID)
	if err != nil {
		t.Fatal(err)
	}
	if got.CapacityType != model.Spot || seen.CapacityType != model.Spot {
		t.Errorf("launched %s, described %s, want spot", got.CapacityType, seen.CapacityType)
	}
}

func wantOfferings(t *testing.T, err error, want []model.Option) {
	t.Helper()
	var fault *provider.Error
	if !errors.As(err, &fault) {
		t.Errorf("%v is not a provider.Error", err)
		return
	}
	type key struct {
		instanceType, zone string
		capacityType       model.CapacityType
	}
	set := func(options []model.Option) map[key]bool {
		out := map[key]bool{}
		for _, o := range options {
			out[key{instanceType: o.InstanceType, zone: o.Zone, capacityType: o.CapacityType}] = true
		}
		return out
	}
	if diff := cmp.Diff(set(want), set(fault.Offerings), cmp.AllowUnexported(key{})); diff != "" {
		t.Errorf("offerings named sold out (-want +got):\n%s", diff)
	}
}
