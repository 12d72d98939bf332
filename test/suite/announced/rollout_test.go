package announced

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/eventually"
)

// apart keeps a pod off the nodes of all others.
func apart(spec *corev1.PodSpec) {
	spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: template().Labels}},
	}}}
}

// TestRollout: of three new workloads of four pods each, two have begun. Their pods wait for
// those of the third if they could share nodes with them, and not if they cannot.
func TestRollout(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(*corev1.PodSpec)
		// begun is what is planned while the third workload has no pod, all when it has one.
		begun, all planned
	}{
		"shared": {"one plan for all needs two nodes", func(*corev1.PodSpec) {}, planned{}, planned{Claims: 2, Pods: 3, Announced: 9}},
		"apart":  {"each pod has a node of its own, whoever waits", apart, planned{Claims: 8, Pods: 2, Announced: 6}, planned{Claims: 12, Pods: 3, Announced: 9}},
	} {
		t.Run(name, func(t *testing.T) {
			b := startRollout(t)
			sets := b.replicaSets(t, 4, tc.change, "a", "b", "c")
			b.begin(t, tc.change, sets[:2]...)
			b.run(t)
			b.await(t, tc.reason, tc.begun)
			if tc.begun == (planned{}) {
				b.awaitWaiting(t)
				b.want(t, "while the third has not begun", planned{})
			}
			b.begin(t, tc.change, sets[2])
			b.await(t, "all have begun", tc.all)
		})
	}
}

// TestApart: eight new workloads shared no nodes, so that the ninth, which alone says nothing about
// others, does not wait for the tenth.
func TestApart(t *testing.T) {
	b := startRollout(t)
	sets := b.replicaSets(t, 1, apart, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
	b.begin(t, apart, sets[:8]...)
	b.run(t)
	b.await(t, "each pod has a node of its own, whoever waits", planned{Claims: 8, Pods: 8})
	b.begin(t, apart, sets[8])
	b.await(t, "the tenth has not begun", planned{Claims: 9, Pods: 9})
}

// startRollout starts a bench whose pods may wait for a rollout of a minute. Its loop does not run yet.
func startRollout(t *testing.T) *bench {
	t.Helper()
	b := startIdle(t, true, time.Hour)                            // further pods are expected all the time
	b.loop.Rollout, b.loop.Clock = time.Minute, clock.RealClock{} // batches end with time
	return b
}

// replicaSets creates ReplicaSets, and waits until they are seen.
func (b *bench) replicaSets(t *testing.T, replicas int32, change func(*corev1.PodSpec), names ...string) []*appsv1.ReplicaSet {
	t.Helper()
	sets := make([]*appsv1.ReplicaSet, 0, len(names))
	for _, name := range names {
		rs := &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: template().Labels}, Template: template()},
		}
		change(&rs.Spec.Template.Spec)
		b.create(t, rs)
		sets = append(sets, rs)
	}
	eventually.Ok(t, "the owners are seen", func() (string, bool) {
		n := b.view.Owners()
		return fmt.Sprint(n, " owners"), n == len(sets)
	})
	return sets
}

// begin creates the first pod of each, and tells the loop once all are seen to wait: the first
// decision is about all of them.
func (b *bench) begin(t *testing.T, change func(*corev1.PodSpec), sets ...*appsv1.ReplicaSet) {
	t.Helper()
	want := b.marked() + len(sets)
	for _, rs := range sets {
		b.pod(t, "ReplicaSet", "apps/v1", rs, rs.Name+"-0", change)
	}
	b.awaitMarked(t, want)
	for _, rs := range sets {
		b.loop.Arrived(rs.UID, false)
	}
}

// run runs the loop until the test ends.
func (b *bench) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- b.loop.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// await waits until the claims say what is wanted.
func (b *bench) await(t *testing.T, why string, want planned) {
	t.Helper()
	eventually.Ok(t, why, func() (string, bool) { got := b.planned(t); return fmt.Sprintf("%+v", got), got == want })
}

// awaitWaiting waits until decisions have left pods to the rollout.
func (b *bench) awaitWaiting(t *testing.T) {
	t.Helper()
	eventually.Ok(t, "the pods wait for the rollout", func() (string, bool) {
		entries := b.journal.Entries()
		if len(entries) == 0 {
			return "no decision", false
		}
		left := entries[len(entries)-1].Unplaced
		return fmt.Sprintf("%+v", left), len(left) > 0 && left[0].Reasons[0].Code == model.WaitsForRollout
	})
}
