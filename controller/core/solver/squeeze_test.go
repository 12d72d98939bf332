package solver

import (
	"fmt"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/test/kit/instancetype"
)

// local is an instance type with one offering.
func local(name string, cpu int64, o model.Offering) model.InstanceType {
	return instancetype.New(name, cpu, 64, 20, o)
}

// ask adds pods, the most urgent first.
func (in *Input) ask(cpus ...int64) {
	s := in.Snapshot
	for i, cpu := range cpus {
		s.Specs = append(s.Specs, model.PodSpec{Namespace: "a", Priority: int32(-i), Requests: model.Resources{"cpu": cpu, "memory": gib, "pods": 1}})
		s.Pods = append(s.Pods, model.Pod{Namespace: "a", Name: fmt.Sprint("pod-", i), Spec: int32(i), Node: -1})
		in.Pods = append(in.Pods, int32(i))
	}
}

// TestSqueezeKeepsReservations: the third pod has to join a node that there is, for
// there may be two. The first node could be the large reserved type as well as the
// small one, but the second has drawn its only place by then.
func TestSqueezeKeepsReservations(t *testing.T) {
	for free, want := range map[int]int{1: 1, 2: 0} {
		t.Run(fmt.Sprint("free=", free), func(t *testing.T) {
			s := &model.Snapshot{
				Catalogs: []model.Catalog{instancetype.Catalog(
					local("small", 2000, instancetype.OnDemand("a", model.PriceOf(1))),
					local("large", 8000, instancetype.Reserved("a", 1, model.Reservation{Free: free})),
				)},
				Pools: []model.Pool{{Name: "general", NodeClass: "default", Limits: model.Resources{"nodes": 2}, Usage: model.Resources{}}},
			}
			in := Input{
				Snapshot: s, Effort: DefaultEffort, Tolerance: DefaultTolerance,
				Costs: []supply.Costs{{{{Tiers: []supply.Tier{{Cost: 1}}}}, {{Tiers: []supply.Tier{{Cost: 1.05}}}}}},
			}
			in.ask(1500, 7000, 1500)
			plan, _ := Solve(in)
			hold(t, 0, &in, &plan)
			if len(plan.Unplaced) != want {
				t.Errorf("%d pods are left out, want %d", len(plan.Unplaced), want)
			}
		})
	}
}
