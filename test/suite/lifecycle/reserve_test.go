package lifecycle

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/reconcile/lifecycle"
	"spokeshave.dev/controller/kube/reconcile/reservation"
)

// TestReservation: a node is kept for the pods that were planned on it until
// they are bound, have gone, or have not come in time.
func TestReservation(t *testing.T) {
	t.Parallel()
	w := start(t)
	late := w.planned(t, "late-to-be-ready")
	w.plan(t, "unready", "default/late-to-be-ready")
	w.joinUnready(t, "node-unready", w.launched(t, "unready").Status.ProviderID)
	tests := map[string]struct {
		why string
		end func(t *testing.T, w *launchingCluster, pod *corev1.Pod, node string)
	}{
		"bound": {"it is where it was planned", func(t *testing.T, w *launchingCluster, pod *corev1.Pod, node string) {
			if err := w.client.SubResource("binding").Create(t.Context(), pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}); err != nil {
				t.Fatal(err)
			}
		}},
		"deleted": {"nobody is left to wait for", func(t *testing.T, w *launchingCluster, pod *corev1.Pod, _ string) {
			if err := w.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
				t.Fatal(err)
			}
		}},
		"late": {"others may have the room after a while", func(*testing.T, *launchingCluster, *corev1.Pod, string) {}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := w.planned(t, name)
			w.plan(t, name, "default/"+name, "default/gone")
			w.registered(t, name)
			w.eventually(t, "the reservation before the startup taint is lifted, as no DaemonSet needs to come", func() bool { return w.reserved(t, name) })
			w.tolerates(t, pod, name) // it may tolerate the startup taint, and be what lifts it
			w.lift(t, "node-"+name)
			w.eventually(t, "the reservation", func() bool { return w.reserved(t, name) })
			w.tolerates(t, pod, name)
			if own := (corev1.Toleration{Key: "example.com/own", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(7))}); !slices.ContainsFunc(pod.Spec.Tolerations, func(x corev1.Toleration) bool {
				return x.TolerationSeconds != nil && *x.TolerationSeconds == 7 && x.MatchToleration(&own)
			}) {
				t.Errorf("the pod lost its own toleration: %v", pod.Spec.Tolerations)
			}
			tc.end(t, w, pod, "node-"+name)
			w.eventually(t, "the end of the reservation, as "+tc.why, func() bool { return !w.reserved(t, name) })
			w.drop(t, pod)
			w.end(t, name)
		})
	}
	t.Run("nobody waits", func(t *testing.T) {
		w.plan(t, "empty", "default/gone")
		w.registered(t, "empty")
		w.lift(t, "node-empty")
		w.initialized(t, "empty")
		w.eventually(t, "the end of the reservation for nobody", func() bool { return !w.reserved(t, "empty") })
		w.end(t, "empty")
	})
	t.Run("announced", func(t *testing.T) { notYetThere(t, w) })
	t.Run("bound before it is initialized", func(t *testing.T) { early(t, w) })
	t.Run("a DaemonSet first", func(t *testing.T) { daemonFirst(t, w) })
	t.Run("something else first", func(t *testing.T) { otherFirst(t, w) })
	t.Run("not answered", func(t *testing.T) { unanswered(t, w) })
	t.Run("ready after it was registered", func(t *testing.T) {
		w.registeredAs(t, "unready")
		w.lift(t, "node-unready")
		w.ready(t, "node-unready")
		w.eventually(t, "the reservation", func() bool { return w.reserved(t, "unready") })
		w.tolerates(t, late, "unready")
		w.drop(t, late)
		w.end(t, "unready")
	})
	t.Run("the controller ends", func(t *testing.T) { leaves(t, w) })
	t.Run("left behind", func(t *testing.T) { leftBehind(t, w) })
}

// notYetThere: a node is kept for pods that do not exist yet. A pod that comes gets the
// toleration as the planned ones do, and the node opens when no more are expected.
func notYetThere(t *testing.T, w *launchingCluster) {
	annotate := func(planned, announced string) {
		t.Helper()
		patch := `{"metadata": {"annotations": {"` + karpv1.AnnotationPlannedPods + `": ` + strconv.Quote(planned) + `, "` + karpv1.AnnotationAnnouncedPods + `": ` + announced + `}}}`
		c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "announced"}}
		if err := w.client.Patch(t.Context(), c, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	w.plan(t, "announced")
	annotate("[]", strconv.Quote(`{"ReplicaSet/default/web":2}`))
	w.eventually(t, "the cache to show the announced pods", func() bool {
		return w.getClaim(t, "announced").Annotations[karpv1.AnnotationAnnouncedPods] != ""
	})
	w.registered(t, "announced")
	w.lift(t, "node-announced")
	w.eventually(t, "the reservation for pods that do not exist", func() bool { return w.reserved(t, "announced") })
	pod := w.planned(t, "announced")
	annotate(`["default/announced"]`, strconv.Quote(`{"ReplicaSet/default/web":1}`))
	w.tolerates(t, pod, "announced")
	annotate(`["default/announced"]`, "null")
	w.drop(t, pod)
	w.eventually(t, "the end of the reservation, as nobody is expected", func() bool { return !w.reserved(t, "announced") })
	w.end(t, "announced")
}

// daemonFirst: while a DaemonSet that could come does not tolerate the reservation,
// the node is not reserved until its startup taint is lifted.
func daemonFirst(t *testing.T, w *launchingCluster) {
	labels := map[string]string{"app": "starter"}
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "starter"}}
	d.Spec.Selector, d.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: labels}, labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/starter:1"}}
	d.Spec.Template.Spec.Tolerations = []corev1.Toleration{
		{Key: startupTaint, Operator: corev1.TolerationOpExists}, {Key: "example.com/pool", Operator: corev1.TolerationOpExists},
	}
	w.create(t, d)
	pod := w.planned(t, "daemon-first")
	w.plan(t, "daemon-first", "default/daemon-first")
	w.registered(t, "daemon-first")
	w.eventually(t, "the node to open to the DaemonSet", func() bool { return !w.reserved(t, "daemon-first") })
	if err := w.client.Delete(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.lift(t, "node-daemon-first")
	w.eventually(t, "the reservation", func() bool { return w.reserved(t, "daemon-first") })
	w.drop(t, pod)
	w.end(t, "daemon-first")
}

// otherFirst: what a node waits for may be a pod of no DaemonSet, which nobody can
// tell: after a while the node opens, and is reserved again once it is initialized.
func otherFirst(t *testing.T, w *launchingCluster) {
	pod := w.planned(t, "other-first")
	w.plan(t, "other-first", "default/other-first")
	w.registered(t, "other-first")
	w.eventually(t, "the reservation", func() bool { return w.reserved(t, "other-first") })
	look := func(later time.Duration) time.Duration {
		now := clocktesting.NewFakeClock(time.Now().Add(later))
		r := &lifecycle.Reconciler{Client: w.client, Provider: w.cloud, Events: w.events, Clock: now, Reservations: reservation.New(w.client, now)}
		again, err := r.Reconcile(t.Context(), w.getClaim(t, "other-first"))
		if err != nil {
			t.Fatal(err)
		}
		return again.RequeueAfter
	}
	if look(4*time.Minute) == 0 {
		t.Error("after four minutes nobody looks again whether it stays reserved")
	}
	w.eventually(t, "the node to open six minutes later", func() bool { // the other reconciler may write just now
		look(6 * time.Minute)
		return !w.reserved(t, "other-first")
	})
	w.lift(t, "node-other-first")
	w.eventually(t, "the reservation of the node that is initialized", func() bool { return w.reserved(t, "other-first") })
	w.drop(t, pod)
	w.end(t, "other-first")
}

// early: pods may be bound while the node is being written, which is then tried
// again. It stays reserved while others of the decision wait.
func early(t *testing.T, w *launchingCluster) {
	pod, other := w.planned(t, "early"), w.planned(t, "elsewhere")
	w.plan(t, "early", "default/early")
	w.plan(t, "elsewhere", "default/elsewhere")
	w.decided(t, "one-decision", "early", "elsewhere")
	w.registered(t, "early")
	w.lift(t, "node-early")
	w.tolerates(t, pod, "early")
	if err := w.client.SubResource("binding").Create(t.Context(), pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "node-early"}}); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, "the cache to show the binding", func() bool {
		return w.client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod) == nil && pod.Spec.NodeName != ""
	})
	close(w.faults.early)
	w.initialized(t, "early")
	if !w.faults.stayed.Load() {
		t.Error("the node was opened, and others of its decision wait")
	}
	w.drop(t, pod)
	w.drop(t, other)
	w.end(t, "early")
	w.end(t, "elsewhere")
}

// decided says of claims that one decision made them.
func (w *launchingCluster) decided(t *testing.T, decision string, names ...string) {
	t.Helper()
	for _, name := range names {
		patch := []byte(`{"metadata":{"annotations":{"` + karpv1.AnnotationDecision + `":"` + decision + `"}}}`)
		if err := w.client.Patch(t.Context(), &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}, client.RawPatch(types.MergePatchType, patch)); err != nil {
			t.Fatal(err)
		}
		w.eventually(t, "the cache to show the decision", func() bool { return w.getClaim(t, name).Annotations[karpv1.AnnotationDecision] == decision })
	}
}

// unanswered: a node is registered and reserved while something holds up the
// writes of its pods, and opens when they are given up.
func unanswered(t *testing.T, w *launchingCluster) {
	pods := []*corev1.Pod{w.planned(t, "deaf"), w.planned(t, "slow"), w.planned(t, "quick")}
	w.plan(t, "held-up", "default/deaf", "default/slow", "default/quick")
	w.registered(t, "held-up")
	w.lift(t, "node-held-up")
	w.initialized(t, "held-up")
	w.tolerates(t, pods[2], "held-up")
	w.drop(t, pods[2])
	if left := time.Duration(w.faults.deadline.Load()); left <= 0 || left > 10*time.Second {
		t.Errorf("a write of a pod may take %s", left)
	}
	close(w.faults.deaf)
	w.eventually(t, "the end of the reservation", func() bool { return !w.reserved(t, "held-up") })
	w.drop(t, pods[0])
	w.drop(t, pods[1])
	w.end(t, "held-up")
}

// leaves: a controller that is stopped opens what it has reserved.
func leaves(t *testing.T, w *launchingCluster) {
	pod := w.planned(t, "orphan")
	w.plan(t, "orphaned", "default/orphan")
	w.registered(t, "orphaned")
	w.lift(t, "node-orphaned")
	w.eventually(t, "the reservation", func() bool { return w.reserved(t, "orphaned") })
	w.create(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "closed"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{karpv1.ClosedTaint()}}})
	w.eventually(t, "the cache to show the closed node", func() bool { return w.getNode(t, "closed") != nil })
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := (&reservation.Releaser{Client: w.client, Clock: clock.RealClock{}}).Start(ctx); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, "a node that is not registered to be as it joined", func() bool {
		taints := w.getNode(t, "closed").Spec.Taints
		return slices.ContainsFunc(taints, func(x corev1.Taint) bool {
			return x.Key == karpv1.TaintKeyUnregistered && x.Effect == corev1.TaintEffectNoExecute
		}) &&
			!slices.ContainsFunc(taints, reservation.IsTaint)
	})
	if err := w.client.Delete(t.Context(), w.getNode(t, "closed")); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, "the end of the reservation", func() bool { return !w.reserved(t, "orphaned") })
	w.drop(t, pod)
	w.end(t, "orphaned")
}

// leftBehind: a controller that may not open a node says that it stays reserved,
// when it has been for longer than any reservation lasts.
func leftBehind(t *testing.T, w *launchingCluster) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "left"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{karpv1.ReservedTaint("gone")}}}
	w.create(t, n)
	now := clocktesting.NewFakeClock(time.Now())
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- (&reservation.StaleReporter{Client: w.client, Events: w.events, Clock: now}).Start(ctx)
	}()
	w.eventually(t, "the first look", now.HasWaiters)
	if k := w.count(t, "left", karpv1.EventReservationLeft); k != 0 {
		t.Errorf("%d events at the first look: the reservation may be a new one", k)
	}
	w.eventually(t, "the event", func() bool {
		now.Step(time.Minute)
		return w.count(t, "left", karpv1.EventReservationLeft, "kubectl taint nodes left spokeshave.dev/reserved-") > 0
	})
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := w.client.Delete(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

// tolerates waits for the pod to tolerate the claim's reservation.
func (w *launchingCluster) tolerates(t *testing.T, pod *corev1.Pod, name string) {
	t.Helper()
	w.eventually(t, "the pod to tolerate the reservation", func() bool {
		if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			t.Fatal(err)
		}
		return slices.Contains(pod.Spec.Tolerations, karpv1.ReservedToleration(w.getClaim(t, name).UID))
	})
}

// drop deletes a pod at once: no kubelet ends it when its node is drained.
func (w *launchingCluster) drop(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	if err := w.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
}

// planned makes a pod that waits, and waits until the cache shows it.
func (w *launchingCluster) planned(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/app:1"}}
	pod.Spec.Tolerations = []corev1.Toleration{{Key: "example.com/own", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(7))}}
	w.create(t, pod)
	w.eventually(t, "the cache to show "+name, func() bool {
		return w.client.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}) == nil
	})
	return pod
}

// plan makes a claim for the pods.
func (w *launchingCluster) plan(t *testing.T, name string, pods ...string) {
	t.Helper()
	w.claim(t, name, option("m5.large"))
	text, err := json.Marshal(pods)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{karpv1.AnnotationPlannedPods: string(text)}}})
	if err != nil {
		t.Fatal(err)
	}
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := w.client.Patch(t.Context(), c, client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, "the cache to show the planned pods", func() bool {
		c := w.getClaim(t, name)
		return c != nil && c.Annotations[karpv1.AnnotationPlannedPods] != ""
	})
}

// registered plays the claim's instance and waits until its node is registered.
func (w *launchingCluster) registered(t *testing.T, name string) {
	t.Helper()
	w.join(t, "node-"+name, w.launched(t, name).Status.ProviderID)
	w.registeredAs(t, name)
}

// registeredAs waits until the claim's node is registered.
func (w *launchingCluster) registeredAs(t *testing.T, name string) {
	t.Helper()
	w.eventually(t, "registration", func() bool {
		return w.getNode(t, "node-"+name).Labels[karpv1.LabelRegistered] == "true" && condition.IsTrue(w.getClaim(t, name).Status.Conditions, karpv1.ConditionRegistered)
	})
}

// initialized waits until the claim's node is.
func (w *launchingCluster) initialized(t *testing.T, name string) {
	t.Helper()
	w.eventually(t, "initialization", func() bool {
		return w.getNode(t, "node-"+name).Labels[karpv1.LabelInitialized] == "true" && condition.IsTrue(w.getClaim(t, name).Status.Conditions, karpv1.ConditionInitialized)
	})
}

// lift takes the startup taint off a node.
func (w *launchingCluster) lift(t *testing.T, node string) {
	t.Helper()
	w.eventually(t, "the startup taint to be lifted", func() bool { // the reconciler may write the node just now
		n := w.getNode(t, node).DeepCopy()
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == startupTaint })
		return w.client.Update(t.Context(), n) == nil
	})
}

func (w *launchingCluster) reservation(t *testing.T, name string) corev1.Taint {
	t.Helper()
	return karpv1.ReservedTaint(w.getClaim(t, name).UID)
}

func (w *launchingCluster) reserved(t *testing.T, name string) bool {
	t.Helper()
	return slices.Contains(w.getNode(t, "node-"+name).Spec.Taints, w.reservation(t, name))
}
