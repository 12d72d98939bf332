package aws_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

// TestTroubled: a status check counts once it has failed for two minutes, a
// scheduled event at once, and instances that are well are not named.
func TestTroubled(t *testing.T) {
	w := newEC2(t)
	ids := map[string]string{}
	for _, name := range []string{"well", "broken", "host", "retiring"} {
		i, err := w.provider.Launch(t.Context(), w.prepare(t, spec(name, option("m7i.large", "us-west-2a", model.OnDemand))))
		if err != nil {
			t.Fatal(err)
		}
		if ids[name], err = instances.InstanceID(i.ProviderID); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.Step(time.Minute) // they run
	for name, check := range map[string]string{"broken": "instance", "host": "system"} {
		if err := w.server.SetStatus(sim.StatusCheck{InstanceID: ids[name], Check: check, Impaired: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.server.Interrupt(sim.Interruption{InstanceID: ids["retiring"], Kind: "scheduled"}); err != nil {
		t.Fatal(err)
	}
	kinds := func() map[string]provider.EventKind {
		found, err := w.provider.Troubled(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]provider.EventKind{}
		for _, e := range found {
			out[e.InstanceID] = e.Kind
		}
		return out
	}
	retiring := map[string]provider.EventKind{ids["retiring"]: provider.EventStatus}
	if diff := cmp.Diff(retiring, kinds(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("at once (-want +got):\n%s", diff)
	}
	w.clock.Step(2 * time.Minute)
	all := map[string]provider.EventKind{
		ids["retiring"]: provider.EventStatus, ids["broken"]: provider.InstanceStatus, ids["host"]: provider.SystemStatus,
	}
	if diff := cmp.Diff(all, kinds()); diff != "" {
		t.Errorf("after two minutes (-want +got):\n%s", diff)
	}
	if err := w.server.SetStatus(sim.StatusCheck{InstanceID: ids["broken"], Check: "instance"}); err != nil {
		t.Fatal(err)
	}
	delete(all, ids["broken"])
	if diff := cmp.Diff(all, kinds()); diff != "" {
		t.Errorf("after a recovery (-want +got):\n%s", diff)
	}
}
