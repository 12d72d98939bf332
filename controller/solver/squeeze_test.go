package solver

import (
	"fmt"
	"testing"

	"spokeshave.dev/controller/model"
)

// TestSqueezeKeepsReservations: the third pod has to join a node that there is, for
// there may be two. The first node could be the large reserved type as well as the
// small one, but the second has drawn its only place by then.
func TestSqueezeKeepsReservations(t *testing.T) {
	for free, want := range map[int]int{1: 1, 2: 0} {
		t.Run(fmt.Sprint("free=", free), func(t *testing.T) {
			kind := func(name string, cpu int64, o model.Offering) model.InstanceType {
				has := model.Resources{"cpu": cpu, "memory": 64 * gib, "pods": 20}
				o.Zone, o.Available = "a", true
				return model.InstanceType{Name: name, Arch: "amd64", OS: "linux", Capacity: has, Allocatable: has, Offerings: []model.Offering{o}}
			}
			s := &model.Snapshot{
				Catalogs: []model.Catalog{{NodeClass: "default", Generation: 1, Types: []model.InstanceType{
					kind("small", 2000, model.Offering{CapacityType: model.OnDemand, Price: model.PriceOf(1)}),
					kind("large", 8000, model.Offering{CapacityType: model.Reserved, Price: 1, Reservation: &model.Reservation{Free: free}}),
				}}},
				Pools: []model.Pool{{Name: "general", NodeClass: "default", Limits: model.Resources{"nodes": 2}, Usage: model.Resources{}}},
			}
			in := Input{
				Snapshot: s, Effort: DefaultEffort, Tolerance: DefaultTolerance,
				Costs: []Costs{{{{Tiers: []Tier{{Cost: 1}}}}, {{Tiers: []Tier{{Cost: 1.05}}}}}},
			}
			for i, cpu := range []int64{1500, 7000, 1500} {
				s.Specs = append(s.Specs, model.PodSpec{Namespace: "a", Priority: int32(-i), Requests: model.Resources{"cpu": cpu, "memory": gib, "pods": 1}})
				s.Pods = append(s.Pods, model.Pod{Namespace: "a", Name: fmt.Sprint("pod-", i), Spec: int32(i), Node: -1})
				in.Pods = append(in.Pods, int32(i))
			}
			plan, _ := Solve(in)
			hold(t, 0, &in, &plan)
			if len(plan.Unplaced) != want {
				t.Errorf("%d pods are left out, want %d", len(plan.Unplaced), want)
			}
		})
	}
}
