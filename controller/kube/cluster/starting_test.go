package cluster

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestStarting: a burst goes on while an owner has yet to create its first pod, for so long
// as one may take for that.
func TestStarting(t *testing.T) {
	now := clocktesting.NewFakeClock(time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC))
	store := toolscache.NewStore(toolscache.MetaNamespaceKeyFunc)
	pods := toolscache.NewStore(toolscache.MetaNamespaceKeyFunc)
	c := &Cluster{cfg: Config{Clock: now}, stores: stores{replicaSets: store, pods: pods}}
	owner := func(name string, wants, has int32) {
		rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: appsv1.ReplicaSetSpec{Replicas: &wants}}
		rs.Status.Replicas = has
		if err := store.Add(rs); err != nil {
			t.Fatal(err)
		}
	}
	add := func(owner string) {
		if err := pods.Add(podOf(owner)); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(owner string) {
		if err := pods.Delete(podOf(owner)); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		reason string
		do     func()
		want   int
	}{
		{"nobody wants pods", func() { owner("old", 0, 0) }, 0},
		{"it has its pods", func() { owner("settled", 3, 3) }, 0},
		{"it has none", func() { owner("web", 3, 0) }, 3},
		{"a pod of another owner has come", func() { add("old") }, 3},
		{"its first pod has come, and its status does not say so yet", func() { add("web") }, 0},
		{"the pod is gone", func() { remove("web") }, 3},
		{"it has created none for too long", func() { now.Step(startingFor) }, 0},
		{"another one begins", func() { owner("shop", 1, 0) }, 1},
		{"they have pods", func() { owner("shop", 1, 1); owner("web", 3, 3) }, 0},
		{"it begins anew", func() { owner("web", 3, 0) }, 3},
	} {
		step.do()
		if all, begin := c.Starting(); all != step.want || begin != step.want {
			t.Errorf("%s: %d pods, %d of new workloads, want %d", step.reason, all, begin, step.want)
		}
	}
}

// TestStartingWorkloads: pods of Jobs and of updates are to come as well, and begin no workload.
func TestStartingWorkloads(t *testing.T) {
	jobs, sets := toolscache.NewStore(toolscache.MetaNamespaceKeyFunc), toolscache.NewStore(toolscache.MetaNamespaceKeyFunc)
	c := &Cluster{cfg: Config{Clock: clocktesting.NewFakeClock(time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC))}, stores: stores{jobs: jobs, replicaSets: sets, pods: toolscache.NewStore(toolscache.MetaNamespaceKeyFunc)}}
	five, three := int32(5), int32(3)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "job"}, Spec: batchv1.JobSpec{Parallelism: &five, Completions: &five}}
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "web"}, Spec: appsv1.ReplicaSetSpec{Replicas: &three}}
	update := rs.DeepCopy()
	update.Name, update.UID, update.Annotations = "api-2", "api-2", map[string]string{"deployment.kubernetes.io/revision": "2"}
	if err := errors.Join(jobs.Add(job), sets.Add(rs), sets.Add(update)); err != nil {
		t.Fatal(err)
	}
	if all, begin := c.Starting(); all != 11 || begin != 3 {
		t.Errorf("%d pods are to come, %d of new workloads, want 11 and 3", all, begin)
	}
}
