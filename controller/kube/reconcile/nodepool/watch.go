package nodepool

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// countDelay is how long changes of claims are collected before a pool's resources are
// counted again: a scale-up changes hundreds of claims at once, and each count reads
// all of them.
const countDelay = 300 * time.Millisecond

// capacityChanged passes the events of claims that change a pool's resources.
func capacityChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*karpv1.NodeClaim)
		after, known := e.ObjectNew.(*karpv1.NodeClaim)
		return !ok || !known || before.Labels[karpv1.LabelNodePool] != after.Labels[karpv1.LabelNodePool] ||
			!equality.Semantic.DeepEqual(before.Status.Capacity, after.Status.Capacity)
	}}
}

func poolOf(o client.Object) (reconcile.Request, bool) {
	name := o.GetLabels()[karpv1.LabelNodePool]
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}, name != ""
}

// enqueueLater returns a handler that enqueues the request returned by f after countDelay.
// Further events until then add nothing.
func enqueueLater(f func(client.Object) (reconcile.Request, bool)) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(q queue, objects ...client.Object) {
		for _, o := range objects {
			if request, ok := f(o); ok {
				q.AddAfter(request, countDelay)
			}
		}
	}
	return handler.Funcs{
		CreateFunc:  func(_ context.Context, e event.CreateEvent, q queue) { add(q, e.Object) },
		UpdateFunc:  func(_ context.Context, e event.UpdateEvent, q queue) { add(q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc:  func(_ context.Context, e event.DeleteEvent, q queue) { add(q, e.Object) },
		GenericFunc: func(_ context.Context, e event.GenericEvent, q queue) { add(q, e.Object) },
	}
}
