package decide

import (
	"fmt"
	"testing"
	"time"

	"spokeshave.dev/controller/model"
)

// BenchmarkSearch is one full pass over a cluster of half-used nodes.
func BenchmarkSearch(b *testing.B) {
	for _, nodes := range []int{500, 5000} {
		b.Run(fmt.Sprintf("nodes=%d/pods=%d", nodes, 20*nodes), func(b *testing.B) {
			s := crowd(nodes)
			for b.Loop() {
				d, err := Decide(b.Context(), s, nil, Options{Disrupt: true, Search: true})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(d.Commands)), "commands")
			}
		})
	}
}

func crowd(nodes int) *model.Snapshot {
	s := used()
	s.Pods = nil
	s.Specs = nil
	for i := range 40 {
		s.Specs = append(s.Specs, model.PodSpec{Namespace: "shop", Labels: map[string]string{"app": fmt.Sprint(i)}, Requests: model.Resources{
			model.CPU: int64(100 + 15*i), model.Memory: int64(200+30*i) << 20, model.PodSlots: 1,
		}})
	}
	large := s.Nodes[1]
	s.Nodes = nil
	for i := range nodes {
		n := large
		n.Name = fmt.Sprintf("n%05d", i)
		n.Claim = n.Name
		n.LaunchedAt = s.Time.Add(-time.Duration(i) * time.Minute)
		s.Nodes = append(s.Nodes, n)
		for k := range 20 {
			s.Pods = append(s.Pods, model.Pod{UID: fmt.Sprint(i, "-", k), Namespace: "shop", Name: fmt.Sprint("p-", i, "-", k), Spec: int32((i*7 + k*3) % 40), Node: int32(i)})
		}
	}
	s.Pools[0].Disruption.AllowedUnderutilized = nodes / 10
	return s
}
