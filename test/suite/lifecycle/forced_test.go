package lifecycle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/reconcile/expiration"
	"spokeshave.dev/controller/kube/reconcile/forceful"
	"spokeshave.dev/controller/kube/reconcile/repair"
	"spokeshave.dev/controller/kube/reconcile/termination"
)

// protect gives a claim's pod a disruption budget that allows no eviction: the pod
// has to run and be ready for that. The controller that would count does not run here.
func protect(t *testing.T, w *launchingCluster, name string) *policyv1.PodDisruptionBudget {
	t.Helper()
	one := intstr.FromInt32(1)
	pdb := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
	}
	w.create(t, pdb)
	allow(t, w, pdb, 0)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	const runs = `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
	if err := w.client.Status().Patch(t.Context(), pod, client.RawPatch(types.StrategicMergePatchType, []byte(runs))); err != nil {
		t.Fatal(err)
	}
	return pdb
}

// allow writes what the controller of disruption budgets would.
func allow(t *testing.T, w *launchingCluster, pdb *policyv1.PodDisruptionBudget, n int32) {
	t.Helper()
	base := pdb.DeepCopy()
	pdb.Status.ObservedGeneration, pdb.Status.DisruptionsAllowed = pdb.Generation, n
	pdb.Status.CurrentHealthy, pdb.Status.DesiredHealthy, pdb.Status.ExpectedPods = 1, 1-n, 1
	if err := w.client.Status().Patch(t.Context(), pdb, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
}

// deleting waits until a claim is on its way out, for the reason.
func (w *launchingCluster) deleting(t *testing.T, name, why string) {
	t.Helper()
	var c *karpv1.NodeClaim
	w.eventually(t, "claim "+name+" to be deleted", func() bool {
		c = w.getClaim(t, name)
		return c != nil && !c.DeletionTimestamp.IsZero()
	})
	if r := meta.FindStatusCondition(c.Status.Conditions, karpv1.ConditionDisruptionReason); r == nil || r.Reason != why {
		t.Errorf("condition DisruptionReason of %s: %+v, want reason %s", name, r, why)
	}
}

// endedAt waits until a claim's pod is made to stop, and then for the end of its
// node and instance. The pod must be left alone until the node's deadline. No
// kubelet removes it here, and nobody waits for one.
func (w *launchingCluster) endedAt(t *testing.T, name string) {
	t.Helper()
	var end time.Time
	w.eventually(t, "a deadline of "+name, func() bool {
		n := w.getNode(t, "node-"+name)
		var err error
		if n != nil {
			end, err = time.Parse(time.RFC3339, n.Annotations[karpv1.AnnotationTerminationTimestamp])
		}
		return n != nil && err == nil
	})
	pod := &corev1.Pod{}
	w.eventually(t, "the pod of "+name+" to be deleted", func() bool {
		err := w.client.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: name}, pod)
		return apierrors.IsNotFound(err) || err == nil && !pod.DeletionTimestamp.IsZero()
	})
	if early := time.Until(end); early > 0 {
		t.Errorf("the pod of %s was deleted %s before the deadline, in spite of what protects it", name, early)
	}
	w.eventually(t, "the end of "+name, func() bool { return w.getClaim(t, name) == nil && w.living(name) == 0 })
}

// expired: expireAfter is forceful: neither an annotation nor a budget keeps the
// node, and its terminationGracePeriod bounds what they do to the drain.
func expired(t *testing.T, w *launchingCluster) {
	w.fleetWith(t, "old", 1, func(c *karpv1.NodeClaim) {
		c.Spec.ExpireAfter = "720h"
		c.Spec.TerminationGracePeriod = &karpv1.Duration{Duration: 4 * time.Second}
	})
	hold(t, w, "old-0")
	protect(t, w, "old-0")
	c := w.getClaim(t, "old-0")
	at := clocktesting.NewFakeClock(c.CreationTimestamp.Time)
	r := &expiration.Reconciler{Deleter: &forceful.Deleter{Client: w.client, Clock: at}, Events: w.events, Clock: at}
	at.SetTime(c.CreationTimestamp.Add(719 * time.Hour))
	if next, err := r.Reconcile(t.Context(), c); err != nil || next.RequeueAfter != time.Hour {
		t.Errorf("an hour before its time: look again in %s (%v)", next.RequeueAfter, err)
	}
	if c := w.getClaim(t, "old-0"); !c.DeletionTimestamp.IsZero() {
		t.Error("it is deleted before its time")
	}
	at.SetTime(c.CreationTimestamp.Add(720 * time.Hour))
	if _, err := r.Reconcile(t.Context(), w.getClaim(t, "old-0")); err != nil {
		t.Fatal(err)
	}
	w.deleting(t, "old-0", "Expired")
	w.told(t, "old-0", karpv1.EventDisruptionTerminating, "720h")
	w.endedAt(t, "old-0")
	for _, name := range []string{"old-0", "node-old-0"} {
		w.told(t, name, karpv1.EventTerminationGracePeriodExpiring, "all pods are to be gone by")
		if n := w.count(t, name, karpv1.EventTerminationGracePeriodExpiring); n != 1 {
			t.Errorf("%s was told %d times of one deadline", name, n)
		}
	}
}

// blocked: while a budget refuses, a pod of an interrupted instance is not
// touched; shortly before the instance ends it is deleted all the same.
func blocked(t *testing.T, w *launchingCluster) {
	id := w.fleet(t, "reclaimed", 1)[0]
	protect(t, w, "reclaimed-0")
	w.listen(t)
	w.cloud.Announce(provider.Event{Kind: provider.SpotInterrupted, InstanceID: id, At: time.Now(), Deadline: time.Now().Add(15 * time.Second)})
	w.deleting(t, "reclaimed-0", "SpotInterrupted")
	w.told(t, "node-reclaimed-0", karpv1.EventFailedDraining, "default/reclaimed-0")
	w.endedAt(t, "reclaimed-0")
	w.told(t, "reclaimed-0", karpv1.EventDisrupted, "deleted")
}

// refusedEviction: the Eviction API answers 429 until the budget has room. The
// drain looks every second, and writes nothing meanwhile: a hundred nodes that
// wait would use up what the controller may ask of the API server.
func refusedEviction(t *testing.T, w *launchingCluster) {
	w.fleet(t, "refused", 1)
	pdb := protect(t, w, "refused-0")
	if err := w.client.Delete(t.Context(), w.getClaim(t, "refused-0")); err != nil {
		t.Fatal(err)
	}
	w.told(t, "node-refused-0", karpv1.EventFailedDraining, "default/refused-0")
	pod := &corev1.Pod{}
	if err := w.client.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "refused-0"}, pod); err != nil || !pod.DeletionTimestamp.IsZero() {
		t.Errorf("the pod is not left alone: %v", err)
	}
	w.eventually(t, "the claim to say what it waits for", func() bool {
		c := meta.FindStatusCondition(w.getClaim(t, "refused-0").Status.Conditions, karpv1.ConditionDrained)
		return c != nil && c.Reason == "Draining"
	})
	const status = "PATCH /apis/karpenter.sh/v1/nodeclaims/refused-0/status"
	if w.asked.count(status) == 0 {
		t.Error("what it waits for was not written as it should be")
	}
	r := &termination.Reconciler{Client: w.client, Provider: w.cloud, Events: w.events, Clock: clock.RealClock{}}
	// Others have something to say of the claim, too; but five times in a row only
	// the drain would.
	w.eventually(t, "a drain that waits and writes nothing", func() bool {
		before := w.asked.count(status)
		for range 5 {
			if next, err := r.Reconcile(t.Context(), w.getNode(t, "node-refused-0")); err != nil || next.RequeueAfter == 0 {
				t.Errorf("a drain that waits: look again in %s (%v)", next.RequeueAfter, err)
			}
		}
		return w.asked.count(status) == before
	})
	allow(t, w, pdb, 1)
	w.told(t, "refused-0", karpv1.EventEvicted, "node-refused-0")
	w.eventually(t, "its end", func() bool { return w.getClaim(t, "refused-0") == nil && w.living("refused-0") == 0 })
}

// breaker: with two of five nodes broken the cause is not theirs; with one it is.
func breaker(t *testing.T, w *launchingCluster) {
	w.fleet(t, "five", 5)
	since := metav1.NewTime(time.Now().Truncate(time.Second))
	ready := func(name string, status corev1.ConditionStatus) *corev1.Node {
		node := w.getNode(t, name).DeepCopy()
		base := node.DeepCopy()
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: since}}
		if err := w.client.Status().Patch(t.Context(), node, client.MergeFrom(base)); err != nil {
			t.Fatal(err)
		}
		w.eventually(t, "the cache to show the condition of "+name, func() bool {
			got := w.getNode(t, name).Status.Conditions
			return len(got) == 1 && got[0].Status == status
		})
		return node
	}
	sick := ready("node-five-0", corev1.ConditionFalse)
	ready("node-five-1", corev1.ConditionFalse)
	at := clocktesting.NewFakePassiveClock(since.Add(31 * time.Minute))
	r := &repair.Reconciler{Client: w.client, Events: w.events, Clock: at, Deleter: &forceful.Deleter{Client: w.client, Clock: at}}
	next, err := r.Reconcile(t.Context(), sick)
	if err != nil || next.RequeueAfter != time.Minute {
		t.Errorf("two of five: look again in %s (%v)", next.RequeueAfter, err)
	}
	w.told(t, "node-five-0", karpv1.EventNodeRepairBlocked, "2 of the 5 nodes")
	if c := w.getClaim(t, "five-0"); !c.DeletionTimestamp.IsZero() {
		t.Error("a node was replaced although two of five are broken")
	}
	ready("node-five-1", corev1.ConditionTrue)
	if _, err := r.Reconcile(t.Context(), sick); err != nil {
		t.Fatal(err)
	}
	w.deleting(t, "five-0", "Unhealthy")
	for _, name := range []string{"five-0", "five-1", "five-2", "five-3", "five-4"} {
		if c := w.getClaim(t, name); c != nil && c.DeletionTimestamp.IsZero() {
			if name == "five-0" {
				t.Error("the broken node stays")
			}
			if err := w.client.Delete(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"five-0", "five-1", "five-2", "five-3", "five-4"} {
		w.eventually(t, "the end of "+name, func() bool { return w.getClaim(t, name) == nil && w.getNode(t, "node-"+name) == nil })
	}
}
