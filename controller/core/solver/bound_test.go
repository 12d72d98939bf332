package solver

import (
	"fmt"
	"math"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/test/kit/instancetype"
)

// TestBoundHolds compares plans with the lower bound, which no plan may beat:
// with and without topology constraints, policies, nodes and preferences.
func TestBoundHolds(t *testing.T) {
	for seed := range seeds(60) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(120))
		switch seed % 4 {
		case 0:
			g.plain(&in)
		case 1:
			g.policies(&in)
		case 2:
			g.Topology()
		case 3:
			g.settle(&in)
			g.spreadThemselves()
		}
		for c := range g.Snapshot.Catalogs {
			g.Snapshot.Catalogs[c].NodeCost = model.Price(g.IntN(3) * 2500)
		}
		in.Effort = DefaultEffort
		plan, stats := Solve(in)
		hold(t, seed, &in, &plan)
		bound, cost := LowerBound(in, &plan), stats.Effective+stats.Fixed.USD()
		if bound > cost*(1+1e-4)+1e-6*float64(len(plan.Nodes)) || math.IsNaN(bound) || bound < 0 {
			t.Errorf("seed %d: the plan costs %.6f $/h, the bound is %.6f", seed, cost, bound)
		}
	}
}

// spreadThemselves gives every spec an app of its own, and half of them a spread
// over it.
func (g *generator) spreadThemselves() {
	for i := range g.Snapshot.Specs {
		s := &g.Snapshot.Specs[i]
		s.Labels = map[string]string{"app": fmt.Sprint("own-", i)}
		s.Spread, s.PodAffinity, s.PodAntiAffinity = nil, nil, nil
		if g.Chance(0.5) {
			x := g.Spread()
			x.Soft = false
			x.Selector = model.PodSelector{Namespaces: []string{s.Namespace}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{s.Labels["app"]}}}}
			s.Spread = []model.Spread{x}
		}
	}
}

// TestBoundCounts pins what the bound knows of, on one type of 4 vCPUs that
// costs 1, 2 and 4 $/h in three zones.
func TestBoundCounts(t *testing.T) {
	own := model.PodSelector{Namespaces: []string{"x"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{"a"}}}}
	apart := func(s *model.PodSpec) {
		s.PodAntiAffinity = []model.PodTerm{{Key: constraint.LabelHostname, Selector: own}}
	}
	spread := func(key string, skew int32) func(s *model.PodSpec) {
		return func(s *model.PodSpec) {
			s.Spread = []model.Spread{{Key: key, MaxSkew: skew, MinDomains: 1, Selector: own}}
		}
	}
	cases := map[string]struct {
		why  string
		pods int
		spec func(*model.PodSpec)
		want float64
	}{
		"Nothing":   {why: "pods of 1 vCPU share nodes of 4 in the cheapest zone", pods: 8, spec: func(*model.PodSpec) {}, want: 2},
		"Apart":     {why: "pods that keep each other off take a node each", pods: 8, spec: apart, want: 8},
		"Zones":     {why: "four of twelve pods have to be in each zone", pods: 12, spec: spread(constraint.LabelZone, 1), want: 7},
		"Loosely":   {why: "of twelve pods a skew of 3 leaves two to the dearest zone and no more than five to another", pods: 12, spec: spread(constraint.LabelZone, 3), want: 5.75},
		"SameNodes": {why: "a spread over nodes is not counted: with one on each, others may follow", pods: 8, spec: spread(constraint.LabelHostname, 1), want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			typ := instancetype.Of("m.large", model.Resources{"cpu": 4000, "pods": 100})
			for i, zone := range []string{"a", "b", "c"} {
				typ.Offerings = append(typ.Offerings, instancetype.OnDemand(zone, model.PriceOf(float64(int(1)<<i))))
			}
			s := &model.Snapshot{
				Catalogs: []model.Catalog{instancetype.Catalog(typ)}, Pools: []model.Pool{{Name: "general", NodeClass: "default"}},
				Specs: []model.PodSpec{{Namespace: "x", Labels: map[string]string{"app": "a"}, Requests: model.Resources{"cpu": 1000, "pods": 1}}},
			}
			tc.spec(&s.Specs[0])
			in := Input{Snapshot: s, Effort: DefaultEffort}
			for i := range tc.pods {
				s.Pods = append(s.Pods, model.Pod{Namespace: "x", Name: fmt.Sprint(i), Node: -1})
				in.Pods = append(in.Pods, int32(i))
			}
			plan, _ := Solve(in)
			if len(plan.Unplaced) > 0 {
				t.Fatalf("unplaced: %+v", plan.Unplaced)
			}
			if got := LowerBound(in, &plan); math.Abs(got-tc.want) > 0.001 {
				t.Errorf("%s: want %v $/h, got %v", tc.why, tc.want, got)
			}
		})
	}
}
