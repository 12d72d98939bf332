package cluster

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"spokeshave.dev/controller/kube/lower"
)

const (
	// startingFor is for how long an owner counts as about to create its first pod, from when
	// that was first seen: one whose pods are refused, or that nobody acts on, holds up nothing
	// after that. Owners that their controller has not synced yet have that long from when
	// another owner last began, but no longer than startingMost.
	startingFor  = 2 * time.Minute
	startingMost = 10 * time.Minute
	// createdJustNow is the age of an owner that begins a workload up to which it is new in
	// any case: its controller may have synced it before [Cluster.Starting] was called.
	createdJustNow = 10 * time.Second
	// newMost is for how long an owner stays new when none of its pods is seen.
	newMost = 10 * time.Minute
)

// newcomers are the owners that have yet to create pods, and those of whose pods nothing has been
// decided yet.
type newcomers struct {
	// since is when each owner that had yet to create a pod was first seen so. began is when
	// one of them was first seen to have begun, or to be gone.
	since map[types.UID]time.Time
	began time.Time
	// beginners are owners that begin a workload ([lower.BeginsWorkload]) and were seen before
	// their controller had synced them, or within createdJustNow of their creation.
	beginners map[types.UID]beginner
}

// beginner is an owner that begins a workload.
type beginner struct {
	// seen is when it was last seen to be new in this sense.
	seen time.Time
	// decided is set when a snapshot has had a pod of it that was not bound and waited for no other
	// owner's.
	decided bool
}

// Starting returns how many pods are wanted by owners that say how many they will have and
// have yet to create the first of them: a burst goes on. begin are those of them that begin a
// workload ([lower.BeginsWorkload]). An owner of which a pod is in the watch cache has begun,
// whatever its status says: a ReplicaSet's may count its first pod minutes later. It is for one
// goroutine at a time.
func (c *Cluster) Starting() (all, begin int) {
	now := c.cfg.Clock.Now()
	for _, o := range c.newcomers.look(c.owners(), c.withPods, now) {
		if !c.newcomers.awaits(o, now) {
			continue
		}
		_, wants := lower.Starting(o)
		all += wants
		if lower.BeginsWorkload(o) {
			begin += wants
		}
	}
	return all, begin
}

// owners returns the owners in the watch cache that may announce pods.
func (c *Cluster) owners() []metav1.Object {
	var out []metav1.Object
	for _, s := range []toolscache.Store{c.stores.replicaSets, c.stores.statefulSets, c.stores.jobs} {
		if s == nil {
			continue
		}
		for _, o := range s.List() {
			if owner, ok := o.(metav1.Object); ok {
				out = append(out, owner)
			}
		}
	}
	return out
}

// withPods returns which of the owners control a pod in the watch cache. It reads all pods, which
// takes 14 ms for 100,000, unless there are no owners.
func (c *Cluster) withPods(owners []metav1.Object) map[types.UID]bool {
	out := map[types.UID]bool{}
	if len(owners) == 0 {
		return out
	}
	asked := make(map[types.UID]bool, len(owners))
	for _, o := range owners {
		asked[o.GetUID()] = true
	}
	for _, pod := range c.Pods() {
		if by := metav1.GetControllerOfNoCopy(pod); by != nil && asked[by.UID] {
			out[by.UID] = true
		}
	}
	return out
}

// look records which of the owners are new, and returns those that have yet to create a pod.
func (n *newcomers) look(owners []metav1.Object, withPods func([]metav1.Object) map[types.UID]bool, now time.Time) []metav1.Object {
	var starting []metav1.Object // by their status, at first
	for _, o := range owners {
		if lower.BeginsWorkload(o) && (!lower.Synced(o) || now.Sub(o.GetCreationTimestamp().Time) < createdJustNow) {
			n.isNew(o.GetUID(), now)
		}
		if _, wants := lower.Starting(o); wants > 0 {
			starting = append(starting, o)
		}
	}
	begun := withPods(starting)
	starting = slices.DeleteFunc(starting, func(o metav1.Object) bool { return begun[o.GetUID()] })
	since := make(map[types.UID]time.Time, len(starting))
	for _, o := range starting {
		uid := o.GetUID()
		if at, seen := n.since[uid]; seen {
			since[uid] = at
		} else {
			since[uid] = now
		}
	}
	for uid := range n.since {
		if _, still := since[uid]; !still {
			n.began = now
		}
	}
	n.since = since
	maps.DeleteFunc(n.beginners, func(_ types.UID, b beginner) bool { return now.Sub(b.seen) > newMost })
	return starting
}

func (n *newcomers) isNew(uid types.UID, now time.Time) {
	if n.beginners == nil {
		n.beginners = map[types.UID]beginner{}
	}
	n.beginners[uid] = beginner{now, n.beginners[uid].decided}
}

// awaits reports whether an owner that has yet to create a pod is still expected to.
func (n *newcomers) awaits(owner metav1.Object, now time.Time) bool {
	since := n.since[owner.GetUID()]
	if lower.Synced(owner) || n.began.Before(since) {
		return now.Sub(since) < startingFor
	}
	return now.Sub(n.began) < startingFor && now.Sub(since) < startingMost
}

// undecided returns the owners that begin a workload, and of whose pods nothing has been decided.
func (n *newcomers) undecided() map[types.UID]bool {
	out := map[types.UID]bool{}
	for uid, b := range n.beginners {
		if !b.decided {
			out[uid] = true
		}
	}
	return out
}

// decided records that a snapshot has had pods of the owners that were not bound, and that those of held
// wait for others.
func (n *newcomers) decided(owners, held map[types.UID]bool) {
	for uid := range owners {
		if b, known := n.beginners[uid]; known && !held[uid] {
			b.decided = true
			n.beginners[uid] = b
		}
	}
}
