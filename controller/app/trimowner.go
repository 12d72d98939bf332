package app

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/kube/lower"
)

// trimOwner keeps of the owners that announce pods what says how many: a cluster has ten
// old ReplicaSets for each Deployment, each with a template.
func trimOwner(o any) (any, error) {
	switch owner := o.(type) {
	case *appsv1.ReplicaSet:
		revision, has := owner.Annotations[lower.AnnotationRevision]
		trimMeta(&owner.ObjectMeta)
		if has {
			owner.Annotations = map[string]string{lower.AnnotationRevision: shared(revision)}
		}
		owner.Spec = appsv1.ReplicaSetSpec{Replicas: owner.Spec.Replicas}
		conditions := owner.Status.Conditions
		for i := range conditions {
			conditions[i] = appsv1.ReplicaSetCondition{Type: conditions[i].Type, Status: conditions[i].Status}
		}
		owner.Status = appsv1.ReplicaSetStatus{Replicas: owner.Status.Replicas, ObservedGeneration: owner.Status.ObservedGeneration, Conditions: conditions}
	case *appsv1.StatefulSet:
		trimMeta(&owner.ObjectMeta)
		owner.Spec = appsv1.StatefulSetSpec{Replicas: owner.Spec.Replicas, PodManagementPolicy: owner.Spec.PodManagementPolicy}
		owner.Status = appsv1.StatefulSetStatus{Replicas: owner.Status.Replicas, ObservedGeneration: owner.Status.ObservedGeneration}
	case *batchv1.Job:
		trimMeta(&owner.ObjectMeta)
		spec, status := &owner.Spec, &owner.Status
		owner.Spec = batchv1.JobSpec{Parallelism: spec.Parallelism, Completions: spec.Completions, Suspend: spec.Suspend, ManagedBy: spec.ManagedBy}
		conditions := status.Conditions
		for i := range conditions {
			conditions[i] = batchv1.JobCondition{Type: conditions[i].Type, Status: conditions[i].Status}
		}
		owner.Status = batchv1.JobStatus{
			Conditions: conditions, Active: status.Active, Succeeded: status.Succeeded, FailedIndexes: status.FailedIndexes, UncountedTerminatedPods: status.UncountedTerminatedPods,
		}
	}
	return o, nil
}

// trimMeta keeps by what an object is found, its age, and whether it goes.
func trimMeta(m *metav1.ObjectMeta) {
	*m = metav1.ObjectMeta{
		Namespace: shared(m.Namespace), Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
	}
}
