package lower

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// announcementPause is for how long an owner may create no pod before it announces
	// nothing any more.
	announcementPause = 10 * time.Second
	// announcementLimit is for how long an owner that goes on creating pods announces more,
	// from the first of them.
	announcementLimit = 2 * time.Minute
	// announcedMost is how many announced pods a snapshot has at most.
	announcedMost = 5000
)

// announcer is a workload that may say how many pods will follow those that it has
// created: a ReplicaSet, a StatefulSet with parallel pod management, or a Job.
type announcer struct {
	// key is "kind/namespace/name".
	key string
	// wants is how many pods the owner will have at the same time, pods that have succeeded
	// left out.
	wants int
	// replaces says that a pod which is being deleted does not count: the owner creates
	// another at once.
	replaces bool

	// pods are those that count.
	pods int
	// created is when each pod of the owner was created, finished ones included.
	created []time.Time
	// waiting is the first pod that waits for a node and that the scheduler has tried.
	waiting *corev1.Pod
}

// replicaSetWants returns how many pods a ReplicaSet will have. ok is false for one that
// creates none now: it goes, or the API server refuses its pods, as a quota does.
func replicaSetWants(rs *appsv1.ReplicaSet) (wants int, ok bool) {
	refused := slices.ContainsFunc(rs.Status.Conditions, func(c appsv1.ReplicaSetCondition) bool {
		return c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue
	})
	if refused || !rs.DeletionTimestamp.IsZero() {
		return 0, false
	}
	return replicas(rs.Spec.Replicas), true
}

// statefulSetWants returns how many pods a StatefulSet will have. ok is false for one that
// creates the next pod only when the last one is ready.
func statefulSetWants(set *appsv1.StatefulSet) (wants int, ok bool) {
	if set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement || !set.DeletionTimestamp.IsZero() {
		return 0, false
	}
	return replicas(set.Spec.Replicas), true
}

// jobWants returns how many pods of a Job will run at the same time: those of its
// parallelism, and no more than have to succeed yet. succeeded is how many of its pods are
// known to have succeeded. ok is false for a Job that has ended or is suspended, that
// another controller manages, and for one that may give up indexes.
func jobWants(job *batchv1.Job, succeeded int) (wants int, ok bool) {
	over := slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Status == corev1.ConditionTrue })
	switch {
	case over, !job.DeletionTimestamp.IsZero(),
		job.Spec.Suspend != nil && *job.Spec.Suspend,
		job.Spec.ManagedBy != nil && *job.Spec.ManagedBy != batchv1.JobControllerName,
		job.Status.FailedIndexes != nil && *job.Status.FailedIndexes != "":
		return 0, false
	}
	told := int(job.Status.Succeeded)
	if uncounted := job.Status.UncountedTerminatedPods; uncounted != nil {
		told += len(uncounted.Succeeded)
	}
	succeeded = max(succeeded, told)
	wants = replicas(job.Spec.Parallelism)
	if job.Spec.Completions == nil { // a work queue: the first success ends it
		return wants, succeeded == 0
	}
	return min(wants, int(*job.Spec.Completions)-succeeded), true
}

// replicas is 1 where nothing is said, as in Kubernetes.
func replicas(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

// follow returns how many pods will follow those that the owner has. ok is false when it
// has stopped to create pods, or has done so for too long.
func (a *announcer) follow(now time.Time) (n int, ok bool) {
	slices.SortFunc(a.created, func(x, y time.Time) int { return y.Compare(x) })
	if len(a.created) == 0 || now.Sub(a.created[0]) > announcementPause {
		return 0, false
	}
	first := a.created[0]
	for _, at := range a.created[1:] {
		if first.Sub(at) > announcementPause {
			break
		}
		first = at
	}
	return max(0, a.wants-a.pods), now.Sub(first) <= announcementLimit
}

// MayAnnounce reports whether an object is a ReplicaSet, a StatefulSet or a Job that says
// with its first waiting pod how many follow.
func MayAnnounce(o any) bool {
	ok := false
	switch owner := o.(type) {
	case *appsv1.ReplicaSet:
		_, ok = replicaSetWants(owner)
	case *appsv1.StatefulSet:
		_, ok = statefulSetWants(owner)
	case *batchv1.Job:
		_, ok = jobWants(owner, 0)
	}
	return ok
}

// Starting returns the UID of a ReplicaSet, a StatefulSet or a Job that is about to create
// pods, and how many it wants: as far as its status says it has none. wants is 0 for any
// other object.
func Starting(o any) (uid types.UID, wants int) {
	has, ok := 0, false
	switch owner := o.(type) {
	case *appsv1.ReplicaSet:
		uid, has = owner.UID, int(owner.Status.Replicas)
		wants, ok = replicaSetWants(owner)
	case *appsv1.StatefulSet:
		uid, has = owner.UID, int(owner.Status.Replicas)
		wants, ok = statefulSetWants(owner)
	case *batchv1.Job:
		uid, has = owner.UID, int(owner.Status.Active)
		wants, ok = jobWants(owner, 0)
	}
	if !ok || has > 0 {
		return uid, 0
	}
	return uid, max(0, wants)
}

// Synced reports whether the controller of a ReplicaSet or a StatefulSet has ever written its
// status, which it first does when it has created the pods that it can create at once. It is true for any other
// object.
func Synced(o any) bool {
	switch owner := o.(type) {
	case *appsv1.ReplicaSet:
		return owner.Status.ObservedGeneration > 0
	case *appsv1.StatefulSet:
		return owner.Status.ObservedGeneration > 0
	}
	return true
}

// newAnnouncers returns the owners that may announce pods, by UID, with what is known of
// their pods: those of which a pod waits.
func newAnnouncers(in *Inputs) map[types.UID]*announcer {
	if len(in.ReplicaSets)+len(in.StatefulSets)+len(in.Jobs) == 0 {
		return nil
	}
	waiting := waitingByOwner(in)
	if len(waiting) == 0 {
		return nil
	}
	out := map[types.UID]*announcer{}
	add := func(o metav1.Object, wants int, replaces bool) {
		if pod := waiting[o.GetUID()]; wants > 0 && pod != nil && pod.Namespace == o.GetNamespace() {
			out[o.GetUID()] = &announcer{key: OwnerKey(pod), wants: wants, replaces: replaces, waiting: pod}
		}
	}
	for _, rs := range in.ReplicaSets {
		if wants, ok := replicaSetWants(rs); ok {
			add(rs, wants, true)
		}
	}
	for _, set := range in.StatefulSets {
		if wants, ok := statefulSetWants(set); ok {
			add(set, wants, false)
		}
	}
	succeeded := succeededByOwner(in)
	for _, job := range in.Jobs {
		if wants, ok := jobWants(job, succeeded[job.UID]); ok {
			add(job, wants, false)
		}
	}
	for _, pod := range in.Pods {
		if a := out[controllerUID(pod)]; a != nil && pod.Namespace == a.waiting.Namespace {
			a.count(pod)
		}
	}
	return out
}

// waitingByOwner returns the oldest pod of each owner that waits for a node.
func waitingByOwner(in *Inputs) map[types.UID]*corev1.Pod {
	out := map[types.UID]*corev1.Pod{}
	for _, pod := range in.Pods {
		if !lacksNode(pod, in.Live) {
			continue
		}
		if uid := controllerUID(pod); uid != "" && (out[uid] == nil || older(pod, out[uid])) {
			out[uid] = pod
		}
	}
	return out
}

// count adds a pod of the owner.
func (a *announcer) count(pod *corev1.Pod) {
	a.created = append(a.created, pod.CreationTimestamp.Time)
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if !ended && (pod.DeletionTimestamp.IsZero() || !a.replaces) {
		a.pods++
	}
}

// older orders the pods of a namespace by creation, then name.
func older(x, y *corev1.Pod) bool {
	if !x.CreationTimestamp.Equal(&y.CreationTimestamp) {
		return x.CreationTimestamp.Before(&y.CreationTimestamp)
	}
	return x.Name < y.Name
}

// succeededByOwner counts the pods that have succeeded and still exist.
func succeededByOwner(in *Inputs) map[types.UID]int {
	out := map[types.UID]int{}
	if len(in.Jobs) == 0 {
		return out
	}
	for _, pod := range in.Pods {
		if pod.Status.Phase == corev1.PodSucceeded {
			out[controllerUID(pod)]++
		}
	}
	return out
}

// OwnerKey is "kind/namespace/name" of the pod's controller, "" for none.
func OwnerKey(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return owner.Kind + "/" + pod.Namespace + "/" + owner.Name
	}
	return ""
}

// controllerUID is the UID of the pod's controller, empty for none.
func controllerUID(pod *corev1.Pod) types.UID {
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return owner.UID
	}
	return ""
}
