package spend

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
)

// large is a cluster of 2,000 nodes in two NodePools: 30,000 pods of 5,000 namespaces, with
// two workloads each.
func large() *model.Snapshot {
	r := rand.New(rand.NewPCG(1, 1))
	s := cluster(r, 2_000)
	s.Pods = nil
	for i := range 30_000 {
		s.Pods = append(s.Pods, model.Pod{
			Namespace: fmt.Sprintf("team-%04d", i%5_000), Name: fmt.Sprintf("p%d", i), Workload: fmt.Sprintf("Deployment/web-%d", i%2),
			Spec: int32(r.IntN(3)), Node: int32(r.IntN(2_000)), Daemon: i%50 == 0,
		})
	}
	return s
}

func BenchmarkAdvance(b *testing.B) {
	for name, s := range map[string]*model.Snapshot{"nodes=20": cluster(rand.New(rand.NewPCG(1, 1)), 20), "nodes=2000": large()} {
		b.Run(name, func(b *testing.B) {
			l := New(s)
			s.Time = s.Time.AddDate(0, 0, 1) // rows are put in order when a day ends
			l = l.Advance(s)
			b.ReportAllocs()
			for b.Loop() {
				s.Time = s.Time.Add(time.Second)
				l = l.Advance(s)
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	l := New(large())
	for b.Loop() {
		kept := l.Trim(l.Entries())
		if _, err := kept.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}
