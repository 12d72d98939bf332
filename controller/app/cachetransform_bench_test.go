package app

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// BenchmarkCachedPod reports how much a pod of a Deployment of fifty takes in
// the cache, as it comes from the API server, before and after slimming.
func BenchmarkCachedPod(b *testing.B) {
	whole := &corev1.Pod{}
	if err := yamlInto(fullPod, whole); err != nil {
		b.Fatal(err)
	}
	alike := newTemplates()
	for name, transform := range map[string]func(any) (any, error){
		"whole": func(o any) (any, error) { return o, nil },
		"slim":  alike.trimPod,
	} {
		b.Run(name, func(b *testing.B) {
			const count = 5000
			for b.Loop() {
				kept := make([]any, 0, count)
				before := live()
				for i := range count {
					whole.Name, whole.UID = fmt.Sprintf("web-%05d-abcde", i), types.UID(fmt.Sprintf("0c5d5e1a-%012d", i))
					whole.Labels["app"] = fmt.Sprint(i / 50)
					text, err := whole.Marshal()
					if err != nil {
						b.Fatal(err)
					}
					pod := &corev1.Pod{}
					if err := pod.Unmarshal(text); err != nil {
						b.Fatal(err)
					}
					o, err := transform(pod)
					if err != nil {
						b.Fatal(err)
					}
					kept = append(kept, o)
				}
				b.ReportMetric(float64(live()-before)/count, "live-B/pod")
				runtime.KeepAlive(kept)
			}
		})
	}
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
