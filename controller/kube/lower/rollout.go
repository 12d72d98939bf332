package lower

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"spokeshave.dev/controller/core/model"
)

// Rollout says how far new workloads have come. Without Beginning and Limit nothing waits.
type Rollout struct {
	// Beginning is how many pods are wanted by owners that have yet to create the first of
	// them ([Starting]) and begin a workload ([BeginsWorkload]).
	Beginning int
	// Limit is for how long the pods of new owners wait for those, from the first of them on.
	Limit time.Duration
	// New are owners that count as new whatever their age, by UID: of whose pods nothing has been
	// decided, because their controller has only now synced them.
	New map[types.UID]bool
}

const (
	// beginningShare is which part of the pods that wait have to follow for the wait to go on.
	beginningShare = 100
	// rolloutPause is for how long no pod at all may have been created: a rollout that has
	// stopped is waited for no longer. Whether pods wait does not matter: those of workloads that have
	// their nodes are bound as they come.
	rolloutPause = 3 * time.Second
	// userPriority is the highest priority that users may give. Above are pods that a cluster
	// does not work without.
	userPriority = 1_000_000_000
)

// AnnotationRevision numbers the ReplicaSets of a Deployment, from 1 on.
const AnnotationRevision = "deployment.kubernetes.io/revision"

// BeginsWorkload reports whether an object is a ReplicaSet or StatefulSet that does not continue
// an older one: the ReplicaSet of a Deployment's update does. Jobs are none, since their pods end.
func BeginsWorkload(o any) bool {
	switch owner := o.(type) {
	case *appsv1.ReplicaSet:
		revision, of := owner.Annotations[AnnotationRevision]
		return !of || revision == "1"
	case *appsv1.StatefulSet:
		return true
	}
	return false
}

// rollout is the pods that wait for further ones, so that all get one plan: those of owners
// that were created within [Rollout.Limit] and begin a workload, and [Rollout.New].
type rollout struct {
	in *Inputs
	// young are the new owners, by UID.
	young map[types.UID]bool
	// pods index those of the snapshot that have no node, announced ones included. first is
	// when the first of them was created.
	pods   []int32
	owners map[types.UID]bool
	first  time.Time
	// began are the owners of Rollout.New of which the snapshot has pods that the scheduler has not
	// bound: it has bound others where it found room, and nothing was decided about them.
	began map[types.UID]bool
}

func newRollout(in *Inputs) *rollout {
	r := &rollout{in: in, owners: map[types.UID]bool{}, began: map[types.UID]bool{}}
	if in.Rollout.Beginning == 0 || in.Rollout.Limit <= 0 || !in.createdSince(in.Time.Add(-rolloutPause)) {
		return r
	}
	r.young = map[types.UID]bool{}
	add := func(o metav1.Object) {
		if in.Rollout.New[o.GetUID()] || in.Time.Sub(o.GetCreationTimestamp().Time) < in.Rollout.Limit {
			r.young[o.GetUID()] = true
		}
	}
	for _, rs := range in.ReplicaSets {
		if BeginsWorkload(rs) {
			add(rs)
		}
	}
	for _, set := range in.StatefulSets {
		add(set)
	}
	return r
}

// createdSince reports whether a pod was created at the time or later. The API server cuts seconds off.
func (in *Inputs) createdSince(at time.Time) bool {
	at = at.Truncate(time.Second)
	return slices.ContainsFunc(in.Pods, func(p *corev1.Pod) bool { return !p.CreationTimestamp.Time.Before(at) })
}

// see records a pod of the snapshot, by its index and its owner's UID. like is the pod, or
// another of the owner for one that is announced; node is where it has a place, -1 for
// nowhere.
func (r *rollout) see(index int, owner types.UID, like *corev1.Pod, node int32) {
	if r.in.Rollout.New[owner] && like.Spec.NodeName == "" {
		r.began[owner] = true
	}
	if node >= 0 || !r.young[owner] || like.Spec.Priority != nil && *like.Spec.Priority > userPriority {
		return
	}
	r.owners[owner] = true
	r.pods = append(r.pods, int32(index))
	if at := like.CreationTimestamp.Time; r.first.IsZero() || at.Before(r.first) {
		r.first = at
	}
}

// hold marks the pods that wait and returns their owners: none when too few are to follow,
// or when the first has waited for as long as it may.
func (r *rollout) hold(s *model.Snapshot) map[types.UID]bool {
	end := r.first.Add(r.in.Rollout.Limit)
	if len(r.pods) == 0 || r.in.Rollout.Beginning*beginningShare < len(r.pods) || !s.Time.Before(end) {
		return nil
	}
	why := &model.Reason{Code: model.WaitsForRollout, Message: fmt.Sprintf(
		"new workloads have yet to create the first of %d further pods: all are planned together, at %s at the latest", r.in.Rollout.Beginning, end.UTC().Format(time.TimeOnly),
	)}
	for _, i := range r.pods {
		s.Pods[i].Held = why
	}
	return r.owners
}
