package app

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/reconcile/decision"
)

// wakeOnChanges wakes the decision loop on changes that may need a decision: a pod waits or
// is gone, a claim is gone or has changed, a pool has changed. announcer finds the owner that
// has announced a pod (see [cluster.Cluster.Announcer]).
func (p *components) wakeOnChanges(ctx context.Context, loop *decision.Loop, announcer func(*corev1.Pod) (types.UID, bool)) error {
	wake := func(any) { loop.Wake() }
	for _, each := range []struct {
		kind    client.Object
		handler toolscache.ResourceEventHandler
	}{
		{&corev1.Pod{}, toolscache.FilteringResourceEventHandler{
			FilterFunc: func(o any) bool {
				pod, ok := o.(*corev1.Pod)
				return ok && lower.IsWaiting(pod, true)
			},
			Handler: toolscache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
				if pod, ok := o.(*corev1.Pod); ok {
					loop.Arrived(announcer(pod))
				}
			}},
		}},
		{&corev1.Pod{}, toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(old, o any) {
			before, okay := old.(*corev1.Pod)
			pod, ok := o.(*corev1.Pod)
			if !okay || !ok {
				return
			}
			if pod.Spec.NodeName != "" && before.Spec.NodeName == "" {
				loop.Metrics.Bound(string(pod.UID), pod.CreationTimestamp.Time, p.clock.Now(), lower.IsWaiting(before, true))
			}
			if pod.Status.Phase == corev1.PodRunning && before.Status.Phase == corev1.PodPending {
				loop.Metrics.Started(string(pod.UID), pod.CreationTimestamp.Time, p.clock.Now())
			}
		}}},
		{&karpv1.NodePool{}, toolscache.ResourceEventHandlerFuncs{AddFunc: wake, DeleteFunc: wake, UpdateFunc: func(_, o any) { wake(o) }}},
		{&karpv1.NodeClaim{}, toolscache.ResourceEventHandlerFuncs{DeleteFunc: wake, UpdateFunc: func(old, o any) {
			if !isDeleting(old) && isDeleting(o) { // its pods have to be placed again
				wake(o)
			}
		}}},
	} {
		if err := p.watch(ctx, each.kind, each.handler); err != nil {
			return err
		}
	}
	return nil
}

func isDeleting(o any) bool {
	claim, ok := o.(*karpv1.NodeClaim)
	return ok && !claim.DeletionTimestamp.IsZero()
}
