package metric

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// TestPodCounts: pods are counted by phase and pool, with the longest waiting times.
// Ended pods do not count as waiting.
func TestPodCounts(t *testing.T) {
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	pod := func(phase corev1.PodPhase, node string, age time.Duration) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-age))},
			Spec:       corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase},
		}
	}
	nodes := map[string]*corev1.Node{
		"ours":   {ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"karpenter.sh/nodepool": "general"}}},
		"theirs": {},
	}
	for name, tc := range map[string]struct {
		reason string
		pods   []*corev1.Pod
		// follows says that another replica leads.
		follows bool
		want    map[string]float64
	}{
		"none": {reason: "nobody waits", want: map[string]float64{
			"karpenter_pods_unbound_time_seconds{}": 0, "karpenter_pods_unstarted_time_seconds{}": 0,
		}},
		"follows": {
			reason: "two that count would count twice", follows: true, want: map[string]float64{},
			pods: []*corev1.Pod{pod(corev1.PodRunning, "ours", time.Hour), pod(corev1.PodPending, "", time.Hour)},
		},
		"some": {
			reason: "a pod on its node waits no longer for one, and one that runs or has ended waits for nothing",
			pods: []*corev1.Pod{
				pod(corev1.PodRunning, "ours", time.Hour), pod(corev1.PodRunning, "ours", time.Hour), pod(corev1.PodRunning, "theirs", time.Hour),
				pod(corev1.PodPending, "ours", 90*time.Second), pod(corev1.PodPending, "", 40*time.Second), pod(corev1.PodPending, "", 10*time.Second),
				pod(corev1.PodFailed, "", time.Hour), pod(corev1.PodSucceeded, "gone", time.Hour),
			},
			want: map[string]float64{
				"karpenter_pods_state{,,,general,Running,}": 2, "karpenter_pods_state{,,,,Running,}": 1,
				"karpenter_pods_state{,,,general,Pending,}": 1, "karpenter_pods_state{,,,,Pending,}": 2,
				"karpenter_pods_state{,,,,Failed,}": 1, "karpenter_pods_state{,,,,Succeeded,}": 1,
				"karpenter_pods_unbound_time_seconds{}": 40, "karpenter_pods_unstarted_time_seconds{}": 90,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			reg := prometheus.NewPedanticRegistry()
			reg.MustRegister(&PodCounts{
				Pods: func() []*corev1.Pod { return tc.pods }, Now: func() time.Time { return now },
				Node: func(name string) *corev1.Node { return nodes[name] }, Leading: func() bool { return !tc.follows },
			})
			got := figures(t, reg, "karpenter_pods_state", "karpenter_pods_unbound_time_seconds", "karpenter_pods_unstarted_time_seconds")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// BenchmarkPodCounts reports what counting 10,000 pods on 1,000 nodes allocates.
func BenchmarkPodCounts(b *testing.B) {
	pods := make([]*corev1.Pod, 10_000)
	for i := range pods {
		pods[i] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u"}, Spec: corev1.PodSpec{NodeName: string(rune('a' + i%1000))}}
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(&PodCounts{Pods: func() []*corev1.Pod { return pods }, Now: time.Now, Node: func(string) *corev1.Node { return nil }, Leading: func() bool { return true }})
	b.ReportAllocs()
	for b.Loop() {
		if families, err := reg.Gather(); err != nil || len(families) != 3 {
			b.Fatalf("%d families, %v", len(families), err)
		}
	}
}

// TestFirstDecision: a pod created while the loop began is timed at its first decision;
// one created before is not.
func TestFirstDecision(t *testing.T) {
	m, reg := metricsOf(t)
	s := town(1)
	m.Lead(s.Time.Add(-10*time.Second + 400*time.Millisecond))
	for uid, age := range map[string]time.Duration{"before": 11 * time.Second, "same second": 10 * time.Second, "after": 4 * time.Second} {
		s.Pods = append(s.Pods, model.Pod{UID: uid, Namespace: "shop", Name: uid, Node: -1, Created: s.Time.Add(-age)})
	}
	m.Observe(s, &decide.Decision{}, 0)
	const name = "karpenter_pods_scheduling_decision_duration_seconds"
	if diff := cmp.Diff(map[string]float64{name + "{} count": 2, name + "{} sum": 14}, figures(t, reg, name)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestQueueFigures: the first decision about a pod is timed once. Unsupported pods are
// counted separately.
func TestQueueFigures(t *testing.T) {
	m, reg := metricsOf(t)
	names := []string{"karpenter_pods_scheduling_decision_duration_seconds", "karpenter_scheduler_ignored_pods_count", "karpenter_scheduler_unfinished_work_seconds"}
	at := func(minute int, uids ...string) *model.Snapshot {
		s := town(minute)
		for _, uid := range uids {
			s.Pods = append(s.Pods, model.Pod{UID: uid, Namespace: "shop", Name: uid, Node: -1, Created: s.Time.Add(-20 * time.Second)})
		}
		return s
	}
	m.Observe(at(0, "old"), &decide.Decision{}, 0) // may have been decided about before
	took := decide.Decision{Timing: decide.Timing{Total: 500 * time.Millisecond}}
	took.Plan.Unplaced = []model.Unplaced{
		{Pod: 4, Reasons: []model.Reason{{Code: model.TooLarge}, {Code: model.Unsupported}, {Code: model.Unsupported}}},
		{Pod: 5, Reasons: []model.Reason{{Code: model.TooLarge}}},
	}
	m.Observe(at(1, "old", "new"), &took, 0)
	for minute, node := range []int32{-1, 4, -1} { // it waits, is to go to the node in flight, and that does not come
		s := at(2+minute, "new")
		s.Pods[len(s.Pods)-1].Node = node
		m.Observe(s, &took, 0)
	}
	want := map[string]float64{names[0] + "{} count": 1, names[0] + "{} sum": 20.5, names[1] + "{}": 1, names[2] + "{provisioner}": 0}
	if diff := cmp.Diff(want, figures(t, reg, names...)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	m.Begin()
	if got := figures(t, reg, names[2])[names[2]+"{provisioner}"]; got <= 0 {
		t.Errorf("a decision is under way, and its time is %v s", got)
	}
	m.End()
	if got := figures(t, reg, names[2])[names[2]+"{provisioner}"]; got != 0 {
		t.Errorf("no decision is under way, and its time is %v s", got)
	}
}
