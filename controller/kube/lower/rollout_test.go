package lower

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"spokeshave.dev/controller/core/model"
)

// TestRollout: pods of new owners wait while enough pods of others are to follow, with those
// that their owner has announced; nobody else does.
func TestRollout(t *testing.T) {
	old := func(age time.Duration) func(*appsv1.ReplicaSet) {
		return func(rs *appsv1.ReplicaSet) { rs.CreationTimestamp = metav1.NewTime(announcingAt.Add(-age)) }
	}
	revision := func(n string) func(*appsv1.ReplicaSet) {
		return func(rs *appsv1.ReplicaSet) {
			rs.Annotations = map[string]string{"deployment.kubernetes.io/revision": n}
		}
	}
	urgent := func(p *corev1.Pod) {
		priority := int32(2_000_000_000)
		p.Spec.Priority = &priority
	}
	stranger := func(p *corev1.Pod) { p.Name, p.UID, p.OwnerReferences = "alone", "alone", nil }
	waits := func(before float64, change ...func(*corev1.Pod)) []*corev1.Pod {
		return []*corev1.Pod{ownedPod("ReplicaSet", 0, before, change...)}
	}
	for name, tc := range map[string]struct {
		reason    string
		in        Inputs
		pods      []*corev1.Pod
		beginning int
		held      int
		fresh     bool // the owner is in Rollout.New
	}{
		"follow":       {"two of four pods exist; one of a further workload is to come", replicaSet(4, old(20*time.Second)), append(waits(5), ownedPod("ReplicaSet", 1, 2)), 1, 4, false},
		"all begun":    {"there is nobody to wait for", replicaSet(4, old(20*time.Second)), waits(5), 0, 0, false},
		"a hundredth":  {"of 200 pods two are to follow", replicaSet(200, old(20*time.Second)), waits(5), 2, 200, false},
		"few":          {"of 200 pods one is to follow", replicaSet(200, old(20*time.Second)), waits(5), 1, 0, false},
		"stopped":      {"no pod has been created for four seconds", replicaSet(4, old(20*time.Second)), waits(5), 100, 0, false},
		"old":          {"the workload has been there for longer: its pods were evicted, or it was scaled", replicaSet(4, old(61*time.Second)), waits(5), 100, 0, false},
		"long enough":  {"the first pod has waited for a minute", replicaSet(1, old(time.Minute-time.Millisecond)), waits(60), 100, 0, false},
		"another pod":  {"a pod without an owner does not wait", replicaSet(4, old(20*time.Second)), append(waits(5), ownedPod("ReplicaSet", 1, 2, stranger)), 1, 4, false},
		"urgent":       {"what the cluster needs does not wait", replicaSet(1, old(20*time.Second)), waits(5, urgent), 100, 0, false},
		"runs already": {"a pod on a node needs no place", replicaSet(1, old(20*time.Second)), waits(5, bound), 100, 0, false},
		"StatefulSet":  {"one that creates its pods at once", statefulSet(3, appsv1.ParallelPodManagement), []*corev1.Pod{ownedPod("StatefulSet", 0, 1)}, 100, 3, false},
		"late":         {"the workload has been there for longer, and its controller has come to it now", replicaSet(4, old(4*time.Minute)), waits(5), 100, 4, true},
		"late, over":   {"its first pod has waited for a minute", replicaSet(4, old(4*time.Minute)), waits(60), 100, 0, true},
		"late update":  {"a Deployment's second ReplicaSet", replicaSet(4, old(4*time.Minute), revision("2")), waits(5), 100, 0, true},
		"late, room":   {"the scheduler has found room for its first pod: nothing is decided about its pods yet", replicaSet(4, old(4*time.Minute)), waits(5, bound), 100, 0, true},
		"update":       {"a Deployment's second ReplicaSet", replicaSet(4, old(20*time.Second), revision("2")), waits(5), 100, 0, false},
		"Deployment":   {"its first one", replicaSet(4, old(20*time.Second), revision("1")), waits(5), 100, 4, false},
		"Job":          {"a Job ends before a better plan has paid for the wait", job(2, needing(2)), []*corev1.Pod{ownedPod("Job", 0, 1)}, 100, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := tc.in
			for _, set := range in.StatefulSets {
				set.CreationTimestamp = metav1.NewTime(announcingAt.Add(-time.Second))
			}
			for _, job := range in.Jobs {
				job.CreationTimestamp = metav1.NewTime(announcingAt.Add(-time.Second))
			}
			in.Time, in.Live, in.Pods = announcingAt, true, tc.pods
			if name != "stopped" {
				in.Pods = append(in.Pods, ownedPod("ReplicaSet", 9, 1, stranger, bound))
			}
			in.Nodes = []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "node"}}}
			in.Rollout = Rollout{Beginning: tc.beginning, Limit: time.Minute}
			if tc.fresh {
				in.Rollout.New = map[types.UID]bool{in.ReplicaSets[0].UID: true, "without pods": true}
			}
			var expected, seen, waiting map[types.UID]bool
			in.Announces = func(owners, began, held map[types.UID]bool) { expected, seen, waiting = owners, began, held }
			s, _ := Build(in)
			held := 0
			for i := range s.Pods {
				why := s.Pods[i].Held
				if why == nil {
					continue
				}
				held++
				if why.Code != model.WaitsForRollout || !strings.Contains(why.Message, "further pods") {
					t.Errorf("pod %s is held as %+v", s.Pods[i].Key(), why)
				}
				if s.Pods[i].Name == "alone" {
					t.Error("a pod without an owner waits")
				}
			}
			if held != tc.held {
				t.Errorf("%s: %d of %d pods wait, want %d", tc.reason, held, len(s.Pods), tc.held)
			}
			if len(seen) > 1 || (len(seen) == 1) != (tc.fresh && tc.pods[0].Spec.NodeName == "") {
				t.Errorf("%s: pods of the new owners %v are decided about", tc.reason, seen)
			}
			if held > 0 && (len(expected) > 0 || len(waiting) != 1) {
				t.Errorf("%v count as announced and %v as held, want one that is held: the next of its pods opens a batch", expected, waiting)
			}
		})
	}
}
