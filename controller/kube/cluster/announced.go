package cluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
)

// AnnouncedChanges are what has to be written on claims because announced pods have come
// or will not come, by the name of the claim.
type AnnouncedChanges map[string]*AnnouncedChange

// AnnouncedChange is the change of one claim.
type AnnouncedChange struct {
	// Come are the pods ("namespace/name") that took the place of an announced one.
	Come []string
	// Fewer is how many places are no longer kept for announced pods, by their owner
	// ("kind/namespace/name").
	Fewer map[string]int
}

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
	c.Come = append(c.Come, pod)
	c.Fewer[owner]++
}

// withdraw records that pods of the owner will not come.
func (a *AnnouncedChanges) withdraw(claim, owner string, places int) {
	a.of(claim).Fewer[owner] += places
}

// Expected reports whether the owner of a pod had announced pods in the last snapshot, so
// that a place is planned for this one. It is safe for concurrent use.
func (c *Cluster) Expected(pod *corev1.Pod) bool {
	owners := c.expected.Load()
	owner := metav1.GetControllerOfNoCopy(pod)
	return owners != nil && owner != nil && (*owners)[owner.UID]
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
