// Package donotdisrupt sends events on pods with the annotation
// karpenter.sh/do-not-disrupt: until when it protects the pod, that this time is over,
// or that its value is invalid.
//
// The protection itself is in controller/kube/lower, controller/core/disrupt and
// reconcile/termination.
package donotdisrupt

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
)

// eventLifetime is how long ago a protection may have ended for a controller that has
// just started to report it still. The API server keeps events for as long.
const eventLifetime = time.Hour

// Reconciler watches the pods that carry the annotation.
type Reconciler struct {
	Client client.Client
	Events events.EventRecorder
	Clock  clock.PassiveClock

	// sent holds the last event sent on each pod, by the pod's name.
	sent sync.Map
}

// sentEvent is an event that was sent on a pod.
type sentEvent struct {
	uid          types.UID
	reason, text string
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	annotated := predicate.NewPredicateFuncs(func(o client.Object) bool {
		_, ok := o.GetAnnotations()[karpv1.AnnotationDoNotDisrupt]
		return ok
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("pod.hold").
		For(&corev1.Pod{}, builder.WithPredicates(annotated)).
		Complete(r)
}

// Reconcile sends the pod's event if it is a new one, and requeues the pod for when its
// protection ends.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := r.Client.Get(ctx, req.NamespacedName, pod); err != nil {
		r.sent.Delete(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if pod.Spec.NodeName == "" || !pod.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	ours, err := r.isManaged(ctx, pod.Spec.NodeName)
	if err != nil || !ours {
		return reconcile.Result{}, err
	}
	h, now := lower.DoNotDisruptOf(pod), r.Clock.Now()
	end := h.Until.UTC().Format(time.RFC3339)
	switch {
	case h.Invalid != "":
		r.tell(pod, corev1.EventTypeWarning, karpv1.EventInvalidDoNotDisruptAnnotation,
			fmt.Sprintf("annotation %s: %q is neither \"true\" nor a duration like \"30m\", and holds nothing", karpv1.AnnotationDoNotDisrupt, h.Invalid))
	case h.Until.IsZero():
		r.sent.Delete(req.NamespacedName)
	case now.Before(h.Until):
		r.tell(pod, corev1.EventTypeNormal, karpv1.EventDoNotDisruptUntil, "the pod is not to be disrupted until "+end)
		return reconcile.Result{RequeueAfter: h.Until.Sub(now)}, nil
	case r.wasSent(pod) || now.Sub(h.Until) < eventLifetime:
		r.tell(pod, corev1.EventTypeNormal, karpv1.EventDoNotDisruptGracePeriodElapsed, "the pod may be disrupted: its time ended at "+end)
	}
	return reconcile.Result{}, nil
}

// isManaged reports whether the node belongs to a NodePool.
func (r *Reconciler) isManaged(ctx context.Context, name string) (bool, error) {
	node := &corev1.Node{}
	err := r.Client.Get(ctx, types.NamespacedName{Name: name}, node)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read node %s: %w", name, err)
	}
	return node.Labels[karpv1.LabelNodePool] != "", nil
}

// wasSent reports whether any event was sent on the pod.
func (r *Reconciler) wasSent(pod *corev1.Pod) bool {
	last, ok := r.sent.Load(client.ObjectKeyFromObject(pod))
	each, same := last.(sentEvent)
	return ok && same && each.uid == pod.UID
}

// tell sends an event unless the last one on the pod was equal.
func (r *Reconciler) tell(pod *corev1.Pod, kind, reason, text string) {
	each := sentEvent{pod.UID, reason, text}
	if last, ok := r.sent.Swap(client.ObjectKeyFromObject(pod), each); ok && last == each {
		return
	}
	r.Events.Eventf(pod, nil, kind, reason, "Disrupt", "%s", text)
}
