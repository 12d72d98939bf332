package decide

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/embedded"
)

// BenchmarkSearch is one full pass over a cluster with the embedded catalogue:
// half empty, where nodes can simply go, and full, where each would have to be
// replaced.
func BenchmarkSearch(b *testing.B) {
	for _, level := range []int{50, 90, 100} {
		for _, nodes := range []int{500, 5000} {
			b.Run(fmt.Sprintf("used=%d%%/nodes=%d/pods=%d", level, nodes, 20*nodes), func(b *testing.B) {
				s := crowd(b, nodes, level)
				before := cpuTime()
				for b.Loop() {
					d, err := Decide(b.Context(), s, nil, Options{Disrupt: true, Search: true})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(len(d.Commands)), "commands")
				}
				b.ReportMetric((cpuTime()-before).Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// crowd has nodes of 16 vCPUs with twenty pods each, which take that share of
// the cpu, in percent.
func crowd(b *testing.B, nodes, level int) *model.Snapshot {
	b.Helper()
	s, zones := used(), embedded.Zones()
	s.Pods, s.Specs, s.Nodes = nil, nil, nil
	s.Catalogs = []model.Catalog{embedded.Catalog(b)}
	s.Pools[0].Requirements = []model.Requirement{
		{Key: "karpenter.k8s.aws/instance-category", Operator: model.In, Values: []string{"c", "m", "r"}},
		{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: []string{"on-demand"}},
	}
	r := rand.New(rand.NewPCG(1, 2))
	mean := 15890 * level / 100 / 20
	for i := range 200 {
		cpu := mean/2 + r.IntN(mean)
		if level == 100 {
			cpu = mean - r.IntN(15)
		}
		s.Specs = append(s.Specs, model.PodSpec{Namespace: "shop", Labels: map[string]string{"app": fmt.Sprint(i)}, Requests: model.Resources{
			model.CPU: int64(cpu), model.Memory: int64(mean) * 4 << 20 / 2 * int64(1+r.IntN(2)), model.PodSlots: 1,
		}})
	}
	for i := range nodes {
		n := model.Node{
			Name: fmt.Sprintf("n%05d", i), State: model.Initialized, InstanceType: "m5.4xlarge", Zone: zones[i%3], CapacityType: model.OnDemand, Price: 768_000,
			Allocatable: model.Resources{model.CPU: 15890, model.Memory: 60 << 30, model.PodSlots: 58}, LaunchedAt: s.Time.Add(-time.Duration(i) * time.Minute),
			Labels: map[string]string{"kubernetes.io/arch": "amd64", "topology.kubernetes.io/zone": zones[i%3], "karpenter.k8s.aws/instance-category": "m"},
		}
		n.Claim = n.Name
		s.Nodes = append(s.Nodes, n)
		for k := range 20 {
			s.Pods = append(s.Pods, model.Pod{UID: fmt.Sprint(i, "-", k), Namespace: "shop", Name: fmt.Sprint("p-", i, "-", k), Spec: int32(r.IntN(200)), Node: int32(i)})
		}
	}
	s.Pools[0].Disruption.AllowedUnderutilized = nodes / 10
	return s
}
