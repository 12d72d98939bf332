package lifecycle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/forceful"
	"spokeshave.dev/controller/kube/reconcile/repair"
)

// repaired: a node that does not answer is given half an hour, and ended then,
// whatever its pods say.
func repaired(t *testing.T, w *launchingCluster) {
	w.fleet(t, "sick", 1)
	hold(t, w, "sick-0")
	node := w.getNode(t, "node-sick-0")
	base := node.DeepCopy()
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	node.Status.Conditions[0].LastTransitionTime.Time = time.Now().Truncate(time.Second)
	if err := w.client.Status().Patch(t.Context(), node, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	at := clocktesting.NewFakePassiveClock(node.Status.Conditions[0].LastTransitionTime.Time)
	r := &repair.Reconciler{Client: w.client, Events: w.events, Clock: at, Deleter: &forceful.Deleter{Client: w.client, Clock: at}}
	for _, minutes := range []time.Duration{0, 29} {
		at.SetTime(node.Status.Conditions[0].LastTransitionTime.Add(minutes * time.Minute))
		next, err := r.Reconcile(t.Context(), node)
		if err != nil || next.RequeueAfter != (30-minutes)*time.Minute {
			t.Errorf("after %d minutes: look again in %s (%v)", minutes, next.RequeueAfter, err)
		}
	}
	at.SetTime(node.Status.Conditions[0].LastTransitionTime.Add(30 * time.Minute))
	w.eventually(t, "the node to be ended", func() bool {
		if _, err := r.Reconcile(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		c := w.getClaim(t, "sick-0")
		return c == nil || meta.IsStatusConditionTrue(c.Status.Conditions, karpv1.ConditionDisruptionReason) && !c.DeletionTimestamp.IsZero()
	})
	// The deadline is in the node's future here: the drain goes by the real clock.
	release(t, w, "sick-0")
	w.eventually(t, "its end", func() bool { return w.getClaim(t, "sick-0") == nil && w.living("sick-0") == 0 })
}
