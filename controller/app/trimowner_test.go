package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"spokeshave.dev/controller/kube/lower"
)

// TestTrimOwner: of an owner the cache keeps how many pods it wants and whether it makes
// them, and no template.
func TestTrimOwner(t *testing.T) {
	three, yes := int32(3), true
	now := metav1.Now()
	meta := metav1.ObjectMeta{
		Namespace: "shop", Name: "web", UID: "1", ResourceVersion: "7", DeletionTimestamp: &now,
		Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}, ManagedFields: []metav1.ManagedFieldsEntry{{}},
	}
	kept := metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1", ResourceVersion: "7", DeletionTimestamp: &now}
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	for name, tc := range map[string]struct {
		reason   string
		in, want any
	}{
		"ReplicaSet": {
			reason: "replicas, and whether pods are refused",
			in: &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: &three, Selector: &metav1.LabelSelector{}, Template: template}, Status: appsv1.ReplicaSetStatus{
				Replicas: 2, Conditions: []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota"}},
			}},
			want: &appsv1.ReplicaSet{ObjectMeta: kept, Spec: appsv1.ReplicaSetSpec{Replicas: &three}, Status: appsv1.ReplicaSetStatus{
				Replicas: 2, Conditions: []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue}},
			}},
		},
		"revision": {
			reason: "whether it updates a Deployment",
			in:     &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-2", Annotations: map[string]string{"deployment.kubernetes.io/revision": "2", "deployment.kubernetes.io/max-replicas": "4"}}},
			want:   &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-2", Annotations: map[string]string{"deployment.kubernetes.io/revision": "2"}}},
		},
		"StatefulSet": {
			reason: "replicas, and whether pods wait for each other",
			in:     &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &three, PodManagementPolicy: appsv1.ParallelPodManagement, Template: template, ServiceName: "web"}, Status: appsv1.StatefulSetStatus{Replicas: 2}},
			want:   &appsv1.StatefulSet{ObjectMeta: kept, Spec: appsv1.StatefulSetSpec{Replicas: &three, PodManagementPolicy: appsv1.ParallelPodManagement}, Status: appsv1.StatefulSetStatus{Replicas: 2}},
		},
		"Job": {
			reason: "how many at a time and in all, and how far it has come",
			in: &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Parallelism: &three, Completions: &three, Suspend: &yes, Template: template}, Status: batchv1.JobStatus{
				Active: 1, Succeeded: 2, Conditions: []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue, Message: "Job suspended"}},
				UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"2"}},
			}},
			want: &batchv1.Job{ObjectMeta: kept, Spec: batchv1.JobSpec{Parallelism: &three, Completions: &three, Suspend: &yes}, Status: batchv1.JobStatus{
				Active: 1, Succeeded: 2, Conditions: []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue}},
				UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"2"}},
			}},
		},
		"another": {reason: "what the cache may hand over for a missed deletion", in: "x", want: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := trimOwner(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTrimmedOwnersStart: whether an owner has yet to create its pods, and whether its controller has
// synced it, is told from what the cache keeps of it.
func TestTrimmedOwnersStart(t *testing.T) {
	three := int32(3)
	for _, has := range []int32{0, 1} {
		for _, owner := range []any{
			&appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: &three}, Status: appsv1.ReplicaSetStatus{Replicas: has, ObservedGeneration: int64(has)}},
			&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: &three, PodManagementPolicy: appsv1.ParallelPodManagement}, Status: appsv1.StatefulSetStatus{Replicas: has, ObservedGeneration: int64(has)}},
			&batchv1.Job{Spec: batchv1.JobSpec{Parallelism: &three, Completions: &three}, Status: batchv1.JobStatus{Active: has}},
		} {
			kept, err := trimOwner(owner)
			if err != nil {
				t.Fatal(err)
			}
			if _, wants := lower.Starting(kept); (wants > 0) != (has == 0) {
				t.Errorf("%T with %d pods: about to create %d", owner, has, wants)
			}
			if _, job := owner.(*batchv1.Job); lower.Synced(kept) != (job || has > 0) {
				t.Errorf("%T with %d pods: synced by its controller: %t", owner, has, lower.Synced(kept))
			}
		}
	}
}
