package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"spokeshave.dev/controller/kube/lower"
)

// AnnouncedChanges are what has to be written on claims because announced pods have come
// or will not come, by the name of the claim.
type AnnouncedChanges map[string]*AnnouncedChange

// AnnouncedChange is the change of one claim.
type AnnouncedChange struct {
	// Come are the pods that took the place of an announced one.
	Come []Arrival
	// Fewer is how many places are no longer kept for announced pods that will not come, by
	// their owner ("kind/namespace/name").
	Fewer map[string]int
}

// Arrival is a pod ("namespace/name") that has come, and its owner ("kind/namespace/name").
type Arrival struct{ Pod, Owner string }

func (a *AnnouncedChanges) of(claim string) *AnnouncedChange {
	if *a == nil {
		*a = AnnouncedChanges{}
	}
	if (*a)[claim] == nil {
		(*a)[claim] = &AnnouncedChange{Fewer: map[string]int{}}
	}
	return (*a)[claim]
}

// adopt records that a pod has come to the place of an announced one.
func (a *AnnouncedChanges) adopt(claim, pod, owner string) {
	c := a.of(claim)
	c.Come = append(c.Come, Arrival{pod, owner})
}

// withdraw records that pods of the owner will not come.
func (a *AnnouncedChanges) withdraw(claim, owner string, places int) {
	a.of(claim).Fewer[owner] += places
}

// Announcer returns the UID of the pod's owner if that says how many pods it will have, ""
// otherwise. planned says that the last snapshot had all of them, so that a place is
// planned for this one. It is safe for concurrent use.
func (c *Cluster) Announcer(pod *corev1.Pod) (owner types.UID, planned bool) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return "", false
	}
	store := map[string]toolscache.Store{"ReplicaSet": c.stores.replicaSets, "StatefulSet": c.stores.statefulSets, "Job": c.stores.jobs}[ref.Kind]
	if store == nil {
		return "", false
	}
	o, ok, err := store.GetByKey(pod.Namespace + "/" + ref.Name)
	if err != nil || !ok || !lower.MayAnnounce(o) {
		return "", false
	}
	creating := c.creating.Load()
	return ref.UID, creating != nil && (*creating)[ref.UID]
}

// startingFor is for how long an owner counts as about to create its first pod, from when
// that was first seen: one whose pods are refused, or that nobody acts on, holds up nothing
// after that.
const startingFor = 2 * time.Minute

// Starting returns how many pods are wanted by owners that say how many they will have and
// have yet to create the first of them: a burst goes on. begin are those of them that begin a
// workload ([lower.BeginsWorkload]). Those in came, of which pods have
// come since the last snapshot, and those that had pods in it are known, whatever their status
// says: a ReplicaSet's counts its first pod when all have been created. It is for one
// goroutine at a time.
func (c *Cluster) Starting(came map[types.UID]bool) (all, begin int) {
	known := map[types.UID]bool{}
	if creating := c.creating.Load(); creating != nil {
		known = *creating
	}
	now := c.cfg.Clock.Now()
	since := make(map[types.UID]time.Time, len(c.starting))
	for _, s := range []toolscache.Store{c.stores.replicaSets, c.stores.statefulSets, c.stores.jobs} {
		if s == nil {
			continue
		}
		for _, o := range s.List() {
			uid, wants := lower.Starting(o)
			if wants == 0 {
				continue
			}
			at, seen := c.starting[uid]
			if !seen {
				at = now
			}
			since[uid] = at
			if !came[uid] && !known[uid] && !c.held[uid] && now.Sub(at) < startingFor {
				all += wants
				if lower.BeginsWorkload(o) {
					begin += wants
				}
			}
		}
	}
	c.starting = since
	return all, begin
}

// Owners counts the owners in the watch cache that may announce pods.
func (c *Cluster) Owners() int {
	n := 0
	for _, s := range []toolscache.Store{c.stores.replicaSets, c.stores.statefulSets, c.stores.jobs} {
		if s != nil {
			n += len(s.ListKeys())
		}
	}
	return n
}
