package e2e

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	sim "spokeshave.dev/simulator"
)

// TestKilledDuringLaunch kills the controller while EC2 works on its request.
// The next one repeats the identical request, which launches nothing more.
func TestKilledDuringLaunch(t *testing.T) {
	l := newTenant(t, "killed", plan{types: "c5.large", capacity: "on-demand"})
	slow := sim.Fault{Action: "CreateFleet", Latency: sim.Duration{Duration: 3 * time.Second}}
	if err := stack.Control(t.Context(), "/_sim/faults", slow, nil); err != nil {
		t.Fatal(err)
	}
	l.deploy("app", 1, "500m")
	claim := ""
	l.until("the attempt to be written down", func(ctx context.Context) (string, bool) {
		fleet, err := l.fleet(ctx)
		if err != nil || len(fleet) != 1 {
			return "no claim", false
		}
		claim = fleet[0].Claim
		c := &karpv1.NodeClaim{}
		err = stack.Client.Get(ctx, types.NamespacedName{Name: claim}, c)
		return "no attempt", err == nil && c.Annotations[karpv1.AnnotationAttempt] != ""
	})
	l.until("the request to reach EC2", faultsLeft(0))
	if err := stack.StopController(t.Context(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := stack.StartController(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.run(1)
	l.until("one machine", l.machines(1))
	if m := l.only(); m.Claim != claim {
		t.Errorf("the machine belongs to %s, want %s, the claim from before", m.Claim, claim)
	}
	l.launchedOnce()
	l.sameRequests()
}

// faultsLeft checks how many faults have not struck yet.
func faultsLeft(want int) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		var faults []sim.Fault
		if err := stack.Control(ctx, "/_sim/faults", nil, &faults); err != nil {
			return err.Error(), false
		}
		return "faults are left", len(faults) == want
	}
}

// sameRequests fails unless EC2 saw the tenant's CreateFleet at least twice, and
// the same each time.
func (l *tenant) sameRequests() {
	l.Helper()
	var all []sim.Request
	if err := stack.Control(l.Context(), "/_sim/requests", nil, &all); err != nil {
		l.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(r sim.Request) bool {
		return r.Action != "CreateFleet" || !slices.ContainsFunc(r.Parameters, func(p string) bool { return contains(p, l.name) })
	})
	if len(all) < 2 {
		l.Fatalf("EC2 saw %d requests, want the same one twice", len(all))
	}
	for i := range all[1:] {
		if !slices.Equal(all[0].Parameters, all[i+1].Parameters) {
			l.Errorf("request %d differs from the first:\n%v\n%v", i+1, all[0].Parameters, all[i+1].Parameters)
		}
	}
}
