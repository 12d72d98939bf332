package lifecycle

import (
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
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
		return w.getClaim(t, name).Annotations[karpv1.AnnotationAnnouncedPods] != ""
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
	return pod
}
