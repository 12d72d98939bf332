package solver_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"spokeshave.dev/controller/core/model"
)

// BenchmarkSolveUneven has shapes that benchmarks usually spare the solver:
// every pod another size, many selectors, many pools.
func BenchmarkSolveUneven(b *testing.B) {
	b.Run("sizes=10000", func(b *testing.B) {
		in := scenario(b, "small", 10000)
		r := rand.New(rand.NewPCG(1, 1))
		in.Snapshot.Specs = nil
		for i := range in.Snapshot.Pods {
			in.Snapshot.Specs = append(in.Snapshot.Specs, model.PodSpec{Requests: model.Resources{
				"pods": 1, "cpu": 50 + r.Int64N(2000), "memory": 64<<20 + r.Int64N(4<<30),
			}})
			in.Snapshot.Pods[i].Spec = int32(i)
		}
		benchmark(b, in)
	})
	b.Run("selectors=200", func(b *testing.B) {
		in := scenario(b, "small", 10000)
		s := in.Snapshot
		families := map[string]bool{}
		for i := range s.Catalogs[0].Types {
			families[s.Catalogs[0].Types[i].Labels["karpenter.k8s.aws/instance-family"]] = true
		}
		n := len(s.Specs)
		for i := range s.Pods {
			if i%2 == 0 {
				continue
			}
			spec := s.Specs[i%n]
			spec.Affinity = []model.Term{{
				{Key: "karpenter.k8s.aws/instance-generation", Operator: model.Gt, Values: []string{fmt.Sprint(i % 6)}},
				{Key: "topology.kubernetes.io/zone", Operator: model.NotIn, Values: []string{[]string{"us-west-2a", "us-west-2b", "us-west-2c"}[i/6%3]}},
				{Key: "karpenter.k8s.aws/instance-cpu", Operator: model.Lt, Values: []string{fmt.Sprint(8 << (i / 18 % 5))}},
			}}
			s.Pods[i].Spec = int32(len(s.Specs))
			s.Specs = append(s.Specs, spec)
		}
		benchmark(b, in)
	})
	b.Run("pools=30", func(b *testing.B) {
		in := scenario(b, "mixed", 10000)
		s := in.Snapshot
		for i := range 28 {
			p := s.Pools[0]
			p.Name = fmt.Sprintf("team-%02d", i)
			p.Taints = []model.Taint{{Key: "team", Value: fmt.Sprint(i), Effect: model.NoSchedule}}
			p.Weight = int32(i % 3)
			s.Pools = append(s.Pools, p)
		}
		for i := range s.Pods {
			if i%3 == 0 {
				spec := s.Specs[s.Pods[i].Spec]
				spec.Tolerations = append([]model.Toleration{{Key: "team", Value: fmt.Sprint(i % 28)}}, spec.Tolerations...)
				s.Pods[i].Spec = int32(len(s.Specs))
				s.Specs = append(s.Specs, spec)
			}
		}
		benchmark(b, in)
	})
}
