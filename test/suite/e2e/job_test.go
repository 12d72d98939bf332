package e2e

import (
	"testing"

	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/harness"
)

// TestJob is the main job: pods get nodes, run where the plan said, and the
// nodes go when the pods do.
func TestJob(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "job", plan{types: "m5.large, m5.xlarge", capacity: "on-demand", after: "1s"})
	l.deploy("app", 9, "500m")
	l.run(9)
	l.until("every machine up", l.allUp)
	fleet, err := l.fleet(t.Context())
	if err != nil || len(fleet) == 0 {
		t.Fatalf("%d machines: %v", len(fleet), err)
	}
	for i := range fleet {
		m := &fleet[i]
		if m.CapacityType != "on-demand" || m.Price <= 0 {
			t.Errorf("%s: %s at %v $/h, want on-demand at a price", m.Claim, m.CapacityType, m.Price)
		}
	}
	l.told("Pod", "Nominated", "$/h")
	if err := stack.Scale(t.Context(), l.name, "app", 0); err != nil {
		t.Fatal(err)
	}
	l.until("the empty machines to go", l.machines(0))
}

// TestPlanHolds: a big node and a small one, and pods of which the smallest fits
// both. Were it bound to the small node, the next would find no room there: the
// plan works out only if the nodes are kept for the pods they are for.
func TestPlanHolds(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "plan", plan{types: "c7i.large, c7i.xlarge", capacity: "on-demand"})
	l.deploy("small", 1, "900m")
	l.deploy("middle", 1, "1800m")
	l.deploy("big", 1, "2900m")
	l.until("all pods to run", stack.Running(l.name, nil, 3))
	l.until("two machines", l.machines(2))
	fleet, err := l.fleet(t.Context())
	if err != nil || len(fleet) != 2 {
		t.Fatalf("%d machines: %v", len(fleet), err)
	}
	for i := range fleet {
		if m := &fleet[i]; m.Planned == 0 || m.AsPlanned != m.Planned {
			t.Errorf("%s %s: %d of %d pods where the plan put them", m.Type, m.Claim, m.AsPlanned, m.Planned)
		}
	}
}

// TestSoldOut: what EC2 has run out of is replaced by the next best offering.
func TestSoldOut(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "sold-out", plan{types: "c6i.large", capacity: "spot, on-demand"})
	err := stack.Control(t.Context(), "/_sim/faults", sim.Fault{
		Action: "CreateFleet", Code: "InsufficientInstanceCapacity", Forever: true,
		Offering: &sim.Offering{Type: "c6i.large", CapacityType: model.Spot},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.deploy("app", 1, "500m")
	l.run(1)
	l.until("one machine", l.machines(1))
	if m := l.only(); m.CapacityType != "on-demand" {
		t.Errorf("launched %s, want on-demand after spot was sold out", m.CapacityType)
	}
	l.told("NodeClaim", "InsufficientCapacityError", "c6i.large")
}

// TestLostAnswer: EC2 launches and the answer gets lost; repeating the request
// must not launch again.
func TestLostAnswer(t *testing.T) {
	// Not parallel: the fault strikes whoever launches next.
	l := newTenant(t, "lost-answer", plan{types: "c6a.large", capacity: "on-demand"})
	if err := stack.Control(t.Context(), "/_sim/faults", sim.Fault{Action: "CreateFleet", AfterSuccess: true}, nil); err != nil {
		t.Fatal(err)
	}
	l.deploy("app", 1, "500m")
	l.run(1)
	l.until("one machine", l.machines(1))
	l.launchedOnce()
}

// launchedOnce fails when more than one instance was ever launched for the tenant.
func (l *tenant) launchedOnce() {
	l.Helper()
	var state sim.State
	if err := stack.Control(l.Context(), "/_sim/state", nil, &state); err != nil {
		l.Fatal(err)
	}
	var ours []sim.InstanceState
	for i := range state.Instances {
		if state.Instances[i].Tags["karpenter.sh/nodepool"] == l.name {
			ours = append(ours, state.Instances[i])
		}
	}
	if len(ours) != 1 {
		l.Errorf("%d instances were launched, want 1: %s", len(ours), harness.JSON(ours))
	}
}
