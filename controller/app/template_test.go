package app

import (
	"runtime"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

func TestPodsOfATemplateShare(t *testing.T) {
	alike := newTemplates()
	slim := func(change func(*corev1.Pod)) *corev1.Pod {
		p := pod(t)
		change(p)
		o, err := alike.trimPod(p)
		if err != nil {
			t.Fatal(err)
		}
		out, ok := o.(*corev1.Pod)
		if !ok {
			t.Fatalf("trimPod gives a %T", o)
		}
		return out
	}
	first := slim(func(*corev1.Pod) {})
	for name, tc := range map[string]struct {
		reason string
		change func(*corev1.Pod)
		shared bool
	}{
		"another name": {
			reason: "the name is no part of the template", shared: true,
			change: func(p *corev1.Pod) { p.Name = "web-2" },
		},
		"bound": {
			reason: "nor is the node", shared: true,
			change: func(p *corev1.Pod) { p.Spec.NodeName = "node-7" },
		},
		"a place on a new node": {
			reason: "the toleration of a reservation is each node's own", shared: true,
			change: func(p *corev1.Pod) {
				p.Spec.Tolerations = append(p.Spec.Tolerations, karpv1.ReservedToleration("uid"))
			},
		},
		"another toleration": {
			reason: "it is kept, and the rest is shared", shared: true,
			change: func(p *corev1.Pod) {
				p.Spec.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}
			},
		},
		"other requests": {
			reason: "a pod of another size must keep its own",
			change: func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources.Limits["nvidia.com/gpu"] = resource.MustParse("2")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole := pod(t)
			tc.change(whole)
			got := slim(tc.change)
			if same := unsafe.SliceData(got.Spec.Containers) == unsafe.SliceData(first.Spec.Containers); same != tc.shared {
				t.Errorf("%s: shared %t", tc.reason, same)
			}
			if diff := cmp.Diff(whole.Spec.Containers[0].Resources, got.Spec.Containers[0].Resources); diff != "" {
				t.Errorf("resources change:\n%s", diff)
			}
			if diff := cmp.Diff(whole.Spec.Tolerations, got.Spec.Tolerations); diff != "" {
				t.Errorf("tolerations change:\n%s", diff)
			}
			if got.Spec.NodeName != whole.Spec.NodeName || got.Name != whole.Name {
				t.Errorf("got %s on %q, want %s on %q", got.Name, got.Spec.NodeName, whole.Name, whole.Spec.NodeName)
			}
		})
	}
}

// Parts of objects that are gone are given back: a cluster whose NodePools, workloads and node
// types come and go keeps those of what it has.
func TestTemplatesGoWithTheirObjects(t *testing.T) {
	alike := newTemplates()
	trimmed := func(team string) *corev1.Pod {
		p := pod(t)
		p.Spec.NodeSelector = map[string]string{"team": team}
		if _, err := alike.trimPod(p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	first, kept, gone := trimmed("stays"), trimmed("stays"), trimmed("goes")
	containers := weak.Make(&gone.Spec.Containers[0])
	// The second pod of its template outlives the first.
	runtime.KeepAlive(first)
	for deadline := time.Now().Add(10 * time.Second); containers.Value() != nil; time.Sleep(time.Millisecond) { //nolint:forbidigo // the collector has no other clock
		if time.Now().After(deadline) {
			t.Fatal("the spec of a pod that is gone is kept")
		}
		runtime.GC()
	}
	if another := trimmed("stays"); unsafe.SliceData(another.Spec.Containers) != unsafe.SliceData(kept.Spec.Containers) {
		t.Error("a pod does not share with the one that is left")
	}
	runtime.KeepAlive(kept)
}

func TestResourceListsAreTheirOwn(t *testing.T) {
	alike := newTemplates()
	list := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("4Gi")}
	}
	for _, cpu := range []string{"1", "2", "1", "1500m"} {
		if diff := cmp.Diff(list(cpu), sharedResources(&uses{of: alike}, list(cpu))); diff != "" {
			t.Errorf("a list with %s of cpu changes:\n%s", cpu, diff)
		}
	}
}
