package cluster

import (
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
