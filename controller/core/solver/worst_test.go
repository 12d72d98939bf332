package solver_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/random"
)

// BenchmarkSolveContradictory has 300 pods of as many specs with constraints that
// contradict each other, none, 30 and 299 existing nodes, and NodePools with limits, so that
// many pods have no place however they are ordered. Four of them are one operation.
func BenchmarkSolveContradictory(b *testing.B) {
	for _, nodes := range []int{0, 30, 299} {
		b.Run(fmt.Sprintf("pods=300/nodes=%d", nodes), func(b *testing.B) {
			var ins []solver.Input
			for seed := range uint64(4) {
				ins = append(ins, contradictory(seed, 300, nodes))
			}
			benchmarkAll(b, ins)
		})
	}
}

// contradictory has pods each of a spec of its own, with random constraints.
func contradictory(seed uint64, pods, nodes int) solver.Input {
	g := random.New(seed)
	q := g.Question(pods)
	s := g.Snapshot
	s.Nodes, s.Specs, q.Pods = nil, nil, nil
	for i := range nodes {
		s.Nodes = append(s.Nodes, g.Node(i))
	}
	for i := range s.Pods {
		s.Specs = append(s.Specs, g.Spec())
		s.Pods[i].Spec, s.Pods[i].Node, s.Pods[i].Daemon = int32(i), -1, false
		q.Pods = append(q.Pods, int32(i))
	}
	g.Topology()
	return solver.Input{Snapshot: s, Pods: q.Pods, Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
}

// benchmarkAll solves all inputs in each operation and reports the longest of them, too.
func benchmarkAll(b *testing.B, ins []solver.Input) {
	b.Helper()
	unplaced, cost := 0, 0.0
	for i := range ins {
		plan, stats := solver.Solve(ins[i])
		for _, v := range check.Plan(ins[i].Snapshot, &plan, check.Constraints{Pods: ins[i].Pods}) {
			b.Fatal(v)
		}
		unplaced, cost = unplaced+len(plan.Unplaced), cost+stats.Effective+stats.Fixed.USD()
	}
	b.ResetTimer()
	start, longest := cpuTime(), time.Duration(0)
	for b.Loop() {
		for i := range ins {
			before := cpuTime()
			solver.Solve(ins[i])
			longest = max(longest, cpuTime()-before)
		}
	}
	b.ReportMetric(float64((cpuTime()-start).Microseconds())/1000/float64(b.N*len(ins)), "cpu-ms/solve")
	b.ReportMetric(float64(longest.Microseconds())/1000, "longest-cpu-ms")
	b.ReportMetric(float64(unplaced), "unplaced")
	b.ReportMetric(cost, "$/h")
}

// BenchmarkSolvePools has 30 NodePools, pods of which a third belong to one of the teams,
// with the topology constraints of the mix diverse, and half of them with preferences.
func BenchmarkSolvePools(b *testing.B) {
	for _, n := range []int{100, 300, 1000, 3000, 10000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) { benchmarkAll(b, []solver.Input{pools(b, n)}) })
	}
}

func pools(tb testing.TB, n int) solver.Input {
	tb.Helper()
	in := scenario(tb, "diverse", n)
	s := in.Snapshot
	for i := range 28 {
		p := s.Pools[0]
		p.Name = fmt.Sprintf("team-%02d", i)
		p.Taints = []model.Taint{{Key: "team", Value: fmt.Sprint(i), Effect: model.NoSchedule}}
		p.Weight = int32(i % 3)
		s.Pools = append(s.Pools, p)
	}
	r := rand.New(rand.NewPCG(3, 3))
	for i := range s.Pods {
		spec := s.Specs[s.Pods[i].Spec]
		if i%3 == 0 {
			spec.Tolerations = append([]model.Toleration{{Key: "team", Value: fmt.Sprint(i % 28)}}, spec.Tolerations...)
		}
		if i%2 == 0 {
			prefer(r, &spec)
		}
		s.Pods[i].Spec = int32(len(s.Specs))
		s.Specs = append(s.Specs, spec)
	}
	return in
}

// prefer gives a spec one of four preferences.
func prefer(r *rand.Rand, s *model.PodSpec) {
	letter := string(rune('a' + r.IntN(7)))
	own := model.PodSelector{Namespaces: []string{"bench"}, Labels: []model.Requirement{{Key: "my-label", Operator: model.In, Values: []string{letter}}}}
	switch r.IntN(4) {
	case 0:
		s.Preferred = []model.WeightedTerm{{Weight: 1, Term: model.Term{{Key: "topology.kubernetes.io/zone", Operator: model.In, Values: []string{"us-west-2a"}}}}}
	case 1:
		s.PreferredApart = []model.WeightedPodTerm{{Weight: 1, Term: model.PodTerm{Key: "kubernetes.io/hostname", Selector: own}}}
	case 2:
		s.PreferredPods = []model.WeightedPodTerm{{Weight: 1, Term: model.PodTerm{Key: "topology.kubernetes.io/zone", Selector: own}}}
	case 3:
		s.Spread = append(s.Spread, model.Spread{Key: "topology.kubernetes.io/zone", MaxSkew: 1, MinDomains: 1, Soft: true, Selector: own})
	}
}
