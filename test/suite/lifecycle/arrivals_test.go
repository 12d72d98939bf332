package lifecycle

import (
	"slices"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
)

// TestArrivals: a pod that was announced is let onto the node on which a place was planned
// for it as soon as it exists, without a decision; as many pods as there are places, and none
// before the claim has an instance.
func TestArrivals(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.expects(t, "first", `{"ReplicaSet/default/web":2}`)
	w.launched(t, "first")
	one, two := w.comes(t, "web", "web-1"), w.comes(t, "web", "web-2")
	w.tolerates(t, one, "first")
	w.tolerates(t, two, "first")
	three := w.comes(t, "web", "web-3")
	w.expects(t, "second", `{"ReplicaSet/default/shop":1}`)
	w.launched(t, "second")
	w.tolerates(t, w.comes(t, "shop", "shop-1"), "second") // it came after web-3
	if tolerates(w.getPod(t, "web-3")) {
		t.Error("a third pod is let onto a node with two places")
	}
	if w.getClaim(t, "first").Annotations[karpv1.AnnotationPlannedPods] != "" {
		t.Error("the claim says that pods are planned, which a decision says")
	}
	// The decision loop has written the first of them: the other place stays taken.
	w.annotate(t, "first", `{"metadata": {"annotations": {"`+karpv1.AnnotationPlannedPods+`": "[\"default/web-1\"]", "`+karpv1.AnnotationAnnouncedPods+`": "{\"ReplicaSet/default/web\":1}"}}}`)
	w.eventually(t, "the cache to show the first", func() bool { return w.getClaim(t, "first").Annotations[karpv1.AnnotationPlannedPods] != "" })
	four := w.comes(t, "web", "web-4")
	w.tolerates(t, w.comes(t, "shop", "shop-2", func() { w.expects(t, "third", `{"ReplicaSet/default/shop":1}`); w.launched(t, "third") }), "third")
	if tolerates(w.getPod(t, "web-4")) {
		t.Error("the place of a pod that no claim names yet was given away")
	}
	for _, pod := range []*corev1.Pod{one, two, three, four} {
		w.drop(t, pod)
	}
}

func tolerates(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(x corev1.Toleration) bool { return x.Key == karpv1.TaintKeyReserved })
}

// expects makes a claim on which places are planned for announced pods.
func (w *launchingCluster) expects(t *testing.T, name, announced string) {
	t.Helper()
	w.claim(t, name, option("m5.large"))
	w.annotate(t, name, `{"metadata": {"annotations": {"`+karpv1.AnnotationAnnouncedPods+`": `+strconv.Quote(announced)+`}}}`)
	w.eventually(t, "the cache to show the announced pods", func() bool {
		c := w.getClaim(t, name) // nil until the cache has it
		return c != nil && c.Annotations[karpv1.AnnotationAnnouncedPods] != ""
	})
}

func (w *launchingCluster) annotate(t *testing.T, claim, patch string) {
	t.Helper()
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim}}
	if err := w.client.Patch(t.Context(), c, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// comes makes a pod of a ReplicaSet, after what is done before.
func (w *launchingCluster) comes(t *testing.T, owner, name string, before ...func()) *corev1.Pod {
	t.Helper()
	for _, do := range before {
		do()
	}
	controls := true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: owner, UID: types.UID(owner), Controller: &controls},
	}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/app:1"}}
	w.create(t, pod)
	w.eventually(t, "the cache to show pod "+name, func() bool { return w.client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod) == nil })
	return pod
}

// TestPlannedElsewhere: a pod that a claim names takes no announced place besides, and places
// on a node that has taken pods for long are out of date.
func TestPlannedElsewhere(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.expects(t, "places", `{"ReplicaSet/default/web":5}`)
	w.launched(t, "places")
	w.plan(t, "own", "default/web-1") // it may be launched or not
	named := w.comes(t, "web", "web-1")
	w.tolerates(t, w.comes(t, "web", "web-2"), "places") // it came later
	if slices.Contains(w.getPod(t, "web-1").Spec.Tolerations, karpv1.ReservedToleration(w.getClaim(t, "places").UID)) {
		t.Error("a pod with a place of its own has taken another one")
	}
	w.drop(t, named)
	old := w.getClaim(t, "places").DeepCopy()
	old.Status.Conditions = append(old.Status.Conditions, metav1.Condition{
		Type: karpv1.ConditionInitialized, Status: metav1.ConditionTrue, Reason: "Initialized", LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Minute)),
	})
	w.eventually(t, "the claim to be initialized", func() bool {
		old.ResourceVersion = w.getClaim(t, "places").ResourceVersion
		return w.client.Status().Update(t.Context(), old) == nil
	})
	w.eventually(t, "the cache to show it", func() bool {
		return condition.IsTrue(w.getClaim(t, "places").Status.Conditions, karpv1.ConditionInitialized)
	})
	late := w.comes(t, "web", "web-3")
	w.expects(t, "new", `{"ReplicaSet/default/shop":1}`)
	w.launched(t, "new")
	w.tolerates(t, w.comes(t, "shop", "shop-1"), "new")
	if tolerates(w.getPod(t, "web-3")) {
		t.Error("a pod is let onto a node whose places are out of date")
	}
	w.drop(t, late)
}

// TestUnregisteredNeeded: a node that is not ready keeps the unregistered taint while a
// DaemonSet tolerates that and no closed node: its pod may be what makes the node ready.
func TestUnregisteredNeeded(t *testing.T) {
	t.Parallel()
	w := start(t)
	labels := map[string]string{"app": "network"}
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "network"}}
	d.Spec.Selector, d.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: labels}, labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/network:1"}}
	d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: karpv1.TaintKeyUnregistered, Operator: corev1.TolerationOpExists}}
	w.create(t, d)
	w.eventually(t, "the cache to show the DaemonSet", func() bool {
		return w.client.Get(t.Context(), client.ObjectKeyFromObject(d), d) == nil
	})
	has := func(node string, taint corev1.Taint) func() bool {
		return func() bool {
			return slices.ContainsFunc(w.getNode(t, node).Spec.Taints, func(x corev1.Taint) bool { return x.MatchTaint(&taint) && x.Value == taint.Value })
		}
	}
	w.claim(t, "waits", option("m5.large"))
	w.joinUnready(t, "node-waits", w.launched(t, "waits").Status.ProviderID)
	w.eventually(t, "the node to be adopted", func() bool { return len(w.getNode(t, "node-waits").Finalizers) > 0 })
	if !has("node-waits", karpv1.UnregisteredTaint())() {
		t.Error("the DaemonSet cannot come any more")
	}
	w.ready(t, "node-waits")
	w.eventually(t, "the node to be registered", func() bool { return !has("node-waits", karpv1.UnregisteredTaint())() })
	if err := w.client.Delete(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, "the cache to show that it is gone", func() bool {
		return w.client.Get(t.Context(), client.ObjectKeyFromObject(d), d) != nil
	})
}
