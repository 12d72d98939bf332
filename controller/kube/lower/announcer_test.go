package lower

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// announcingAt is the time of the snapshots in which owners announce pods.
var announcingAt = time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)

// ownedPod is a pod of the owner web that was created so many seconds before, and that the
// scheduler has found unschedulable.
func ownedPod(kind string, number int, before float64, change ...func(*corev1.Pod)) *corev1.Pod {
	const owner = "web"
	version := map[string]string{"Job": "batch/v1"}[kind]
	if version == "" {
		version = "apps/v1"
	}
	controls := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprintf("%s-%d", owner, number), UID: types.UID(fmt.Sprintf("%s %s %d", kind, owner, number)),
			CreationTimestamp: metav1.Time{Time: announcingAt.Add(-time.Duration(before * float64(time.Second)))},
			OwnerReferences:   []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: owner, UID: ownerUID(kind, owner), Controller: &controls}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}}}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable},
		}},
	}
	for _, c := range change {
		c(pod)
	}
	return pod
}

func untried(p *corev1.Pod) { p.Status.Conditions = nil }
func bound(p *corev1.Pod) {
	p.Spec.NodeName = "node"
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = nil
}
func succeeded(p *corev1.Pod) { bound(p); p.Status.Phase = corev1.PodSucceeded }
func failed(p *corev1.Pod)    { bound(p); p.Status.Phase = corev1.PodFailed }
func gated(p *corev1.Pod) {
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}}
}
func going(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: announcingAt} }

func ownerUID(kind, name string) types.UID { return types.UID(kind + " " + name) }

func objectMeta(kind, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "shop", Name: name, UID: ownerUID(kind, name)}
}

func replicaSet(n int32, change ...func(*appsv1.ReplicaSet)) Inputs {
	rs := &appsv1.ReplicaSet{ObjectMeta: objectMeta("ReplicaSet", "web"), Spec: appsv1.ReplicaSetSpec{Replicas: &n}}
	for _, c := range change {
		c(rs)
	}
	return Inputs{ReplicaSets: []*appsv1.ReplicaSet{rs}}
}

func statefulSet(n int32, policy appsv1.PodManagementPolicyType) Inputs {
	return Inputs{StatefulSets: []*appsv1.StatefulSet{{
		ObjectMeta: objectMeta("StatefulSet", "web"), Spec: appsv1.StatefulSetSpec{Replicas: &n, PodManagementPolicy: policy},
	}}}
}

func job(parallelism int32, change ...func(*batchv1.Job)) Inputs {
	j := &batchv1.Job{ObjectMeta: objectMeta("Job", "web"), Spec: batchv1.JobSpec{Parallelism: &parallelism}}
	for _, c := range change {
		c(j)
	}
	return Inputs{Jobs: []*batchv1.Job{j}}
}

func needing(n int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.Completions = &n }
}

// TestFollow: how many pods owners announce.
func TestFollow(t *testing.T) {
	rs := func(number int, before float64, change ...func(*corev1.Pod)) *corev1.Pod {
		return ownedPod("ReplicaSet", number, before, change...)
	}
	of := func(kind string, number int, change ...func(*corev1.Pod)) *corev1.Pod {
		return ownedPod(kind, number, 1, change...)
	}
	refused := func(rs *appsv1.ReplicaSet) {
		rs.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate"}}
	}
	for name, tc := range map[string]struct {
		reason string
		in     Inputs
		pods   []*corev1.Pod
		want   int
	}{
		"begun":           {reason: "one of ten exists and waits", in: replicaSet(10), pods: []*corev1.Pod{rs(1, 1)}, want: 9},
		"not begun":       {reason: "no pod has shown what the others look like, or that they are let in", in: replicaSet(10)},
		"untried":         {reason: "the first may find a place on a node there is", in: replicaSet(10), pods: []*corev1.Pod{rs(1, 1, untried)}},
		"some untried":    {reason: "pods that exist are not announced", in: replicaSet(10), pods: []*corev1.Pod{rs(1, 1), rs(2, 1, untried), rs(3, 1, untried)}, want: 7},
		"bound":           {reason: "the cluster has room for its pods", in: replicaSet(10), pods: []*corev1.Pod{rs(1, 1, bound)}},
		"grown":           {reason: "five run, of which one more waits", in: replicaSet(10), pods: []*corev1.Pod{rs(1, 600, bound), rs(2, 600, bound), rs(3, 1)}, want: 7},
		"complete":        {reason: "all exist", in: replicaSet(2), pods: []*corev1.Pod{rs(1, 1), rs(2, 1)}},
		"shrunk":          {reason: "more exist than are wanted", in: replicaSet(1), pods: []*corev1.Pod{rs(1, 1), rs(2, 1)}},
		"scaled to none":  {reason: "paused by its Deployment, or an old revision", in: replicaSet(0), pods: []*corev1.Pod{rs(1, 1)}},
		"gated":           {reason: "a pod behind a gate waits for something else", in: replicaSet(10), pods: []*corev1.Pod{rs(1, 1, gated)}},
		"failed pods":     {reason: "a failed pod is replaced", in: replicaSet(3), pods: []*corev1.Pod{rs(1, 1, failed), rs(2, 1)}, want: 2},
		"pods that go":    {reason: "a ReplicaSet replaces them at once", in: replicaSet(3), pods: []*corev1.Pod{rs(1, 1, bound, going), rs(2, 1)}, want: 2},
		"refused":         {reason: "a quota refuses its pods", in: replicaSet(10, refused), pods: []*corev1.Pod{rs(1, 1)}},
		"being deleted":   {reason: "it creates nothing any more", in: replicaSet(10, func(rs *appsv1.ReplicaSet) { rs.DeletionTimestamp = &metav1.Time{Time: announcingAt} }), pods: []*corev1.Pod{rs(1, 1)}},
		"another's":       {reason: "the pod says that it is a pod of a ReplicaSet in another namespace", in: replicaSet(10), pods: []*corev1.Pod{rs(1, 1, func(p *corev1.Pod) { p.Namespace = "other" })}},
		"just in time":    {reason: "the last pod came ten seconds ago", in: replicaSet(10), pods: []*corev1.Pod{rs(1, 10)}, want: 9},
		"no progress":     {reason: "no pod has come for longer than ten seconds", in: replicaSet(10), pods: []*corev1.Pod{rs(1, 10.5)}},
		"slow":            {reason: "it goes on, 100 s after the first", in: replicaSet(100), pods: series(rs, 12, 9), want: 88},
		"too slow":        {reason: "it goes on, 126 s after the first", in: replicaSet(100), pods: series(rs, 15, 9)},
		"begun again":     {reason: "an earlier burst does not count", in: replicaSet(100), pods: append(series(rs, 2, 5), rs(20, 500, bound), rs(21, 600, bound)), want: 96},
		"stateful":        {reason: "all pods are made at once", in: statefulSet(5, appsv1.ParallelPodManagement), pods: []*corev1.Pod{of("StatefulSet", 0)}, want: 4},
		"ordered":         {reason: "the second pod is made when the first is ready", in: statefulSet(5, appsv1.OrderedReadyPodManagement), pods: []*corev1.Pod{of("StatefulSet", 0)}},
		"stateful, going": {reason: "the next pod of the name is made when the last one has gone", in: statefulSet(5, appsv1.ParallelPodManagement), pods: []*corev1.Pod{of("StatefulSet", 0), of("StatefulSet", 1, bound, going)}, want: 3},
		"job":             {reason: "its parallelism", in: job(8, needing(100)), pods: []*corev1.Pod{of("Job", 1)}, want: 7},
		"job at its end":  {reason: "three are left to succeed", in: job(8, needing(10), func(j *batchv1.Job) { j.Status.Succeeded = 7 }), pods: []*corev1.Pod{of("Job", 1)}, want: 2},
		"uncounted": {reason: "the status lags behind, the pods that are not counted yet do not", in: job(8, needing(10), func(j *batchv1.Job) {
			j.Status.Succeeded = 6
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"a"}}
		}), pods: []*corev1.Pod{of("Job", 1)}, want: 2},
		"succeeded pods":    {reason: "the pods themselves say so before the status", in: job(8, needing(3)), pods: []*corev1.Pod{of("Job", 1), of("Job", 2, succeeded)}, want: 1},
		"work queue":        {reason: "as many as its parallelism", in: job(4), pods: []*corev1.Pod{of("Job", 1)}, want: 3},
		"work queue at end": {reason: "one success: no further pod is made", in: job(4), pods: []*corev1.Pod{of("Job", 1), of("Job", 2, succeeded)}},
		"indexed":           {reason: "indexes do not matter", in: job(4, needing(4), func(j *batchv1.Job) { m := batchv1.IndexedCompletion; j.Spec.CompletionMode = &m }), pods: []*corev1.Pod{of("Job", 1)}, want: 3},
		"failed indexes":    {reason: "how many are left is not known", in: job(4, needing(9), func(j *batchv1.Job) { s := "1,3-5"; j.Status.FailedIndexes = &s }), pods: []*corev1.Pod{of("Job", 1)}},
		"suspended":         {reason: "it is paused", in: job(4, needing(4), func(j *batchv1.Job) { yes := true; j.Spec.Suspend = &yes }), pods: []*corev1.Pod{of("Job", 1)}},
		"over": {reason: "it has failed", in: job(4, needing(4), func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
		}), pods: []*corev1.Pod{of("Job", 1)}},
		"managed by another": {reason: "who knows what it does", in: job(4, needing(4), func(j *batchv1.Job) { s := "kueue.x-k8s.io/multikueue"; j.Spec.ManagedBy = &s }), pods: []*corev1.Pod{of("Job", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			in := tc.in
			in.Live, in.Time, in.Pods = true, announcingAt, tc.pods
			got := 0
			for _, a := range newAnnouncers(&in) {
				if n, ok := a.follow(in.Time); ok {
					got += n
				}
			}
			if got != tc.want {
				t.Errorf("%s: %d pods are announced, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// series returns n waiting pods, the newest of now, and each other one the gap older, in
// seconds.
func series(pod func(int, float64, ...func(*corev1.Pod)) *corev1.Pod, n int, gap float64) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range n {
		out = append(out, pod(i, gap*float64(i)))
	}
	return out
}

// TestStarting: an owner is about to create pods while it wants some and its status says
// that it has none.
func TestStarting(t *testing.T) {
	has := func(n int32) func(*appsv1.ReplicaSet) {
		return func(rs *appsv1.ReplicaSet) { rs.Status.Replicas = n }
	}
	refused := func(rs *appsv1.ReplicaSet) {
		rs.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue}}
	}
	active := job(2)
	active.Jobs[0].Status.Active = 2
	ordered := statefulSet(3, appsv1.OrderedReadyPodManagement)
	for name, tc := range map[string]struct {
		reason string
		owner  any
		want   int
	}{
		"ReplicaSet":     {"it has created no pod", replicaSet(3).ReplicaSets[0], 3},
		"has pods":       {"its first pod has come", replicaSet(3, has(1)).ReplicaSets[0], 0},
		"wants none":     {"an old one of a Deployment", replicaSet(0).ReplicaSets[0], 0},
		"refused":        {"the API server refuses its pods", replicaSet(3, refused).ReplicaSets[0], 0},
		"StatefulSet":    {"it creates all pods at once", statefulSet(3, appsv1.ParallelPodManagement).StatefulSets[0], 3},
		"one by one":     {"nobody waits for the second of these", ordered.StatefulSets[0], 0},
		"Job":            {"it has no active pod", job(2).Jobs[0], 2},
		"active":         {"it has", active.Jobs[0], 0},
		"something else": {"a pod owns nothing", &corev1.Pod{}, 0},
	} {
		uid, got := Starting(tc.owner)
		if got != tc.want || got > 0 && uid == "" {
			t.Errorf("%s: %d pods (%q), as %s", name, got, uid, tc.reason)
		}
	}
}
