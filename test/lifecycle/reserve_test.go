package lifecycle

import (
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/reconcile/condition"
)

// TestReservation: a node is kept for the pods that were planned on it until
// they are bound, have gone, or have not come in time.
func TestReservation(t *testing.T) {
	w := start(t)
	tests := map[string]struct {
		why string
		end func(t *testing.T, w *world, pod *corev1.Pod, node string)
	}{
		"bound": {"it is where it was planned", func(t *testing.T, w *world, pod *corev1.Pod, node string) {
			if err := w.client.SubResource("binding").Create(t.Context(), pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}); err != nil {
				t.Fatal(err)
			}
		}},
		"deleted": {"nobody is left to wait for", func(t *testing.T, w *world, pod *corev1.Pod, _ string) {
			if err := w.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
				t.Fatal(err)
			}
		}},
		"late": {"others may have the room after a while", func(*testing.T, *world, *corev1.Pod, string) {}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := w.planned(t, name)
			w.plan(t, name, "default/"+name, "default/gone")
			n := w.registered(t, name)
			if !slices.Contains(n.Spec.Taints, w.reservation(t, name)) {
				t.Fatalf("taints of the registered node: %v", n.Spec.Taints)
			}
			w.eventually(t, "the pod to tolerate the reservation", func() bool {
				if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
					t.Fatal(err)
				}
				return slices.Contains(pod.Spec.Tolerations, karpv1.ReservedToleration(w.getClaim(t, name).UID))
			})
			if own := (corev1.Toleration{Key: "example.com/own", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(7))}); !slices.ContainsFunc(pod.Spec.Tolerations, func(x corev1.Toleration) bool {
				return x.TolerationSeconds != nil && *x.TolerationSeconds == 7 && x.MatchToleration(&own)
			}) {
				t.Errorf("the pod lost its own toleration: %v", pod.Spec.Tolerations)
			}
			tc.end(t, w, pod, "node-"+name)
			w.eventually(t, "the end of the reservation, as "+tc.why, func() bool { return !w.reserved(t, name) })
			// No kubelet ends the pod when the node is drained.
			if err := w.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
			w.end(t, name)
		})
	}
	t.Run("nobody waits", func(t *testing.T) {
		w.plan(t, "empty", "default/gone")
		if w.registered(t, "empty"); w.reserved(t, "empty") {
			t.Error("the node is reserved for nobody")
		}
		w.end(t, "empty")
	})
}

// planned makes a pod that waits.
func (w *world) planned(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/app:1"}}
	pod.Spec.Tolerations = []corev1.Toleration{{Key: "example.com/own", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(7))}}
	if err := w.client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// plan makes a claim for the pods.
func (w *world) plan(t *testing.T, name string, pods ...string) {
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
	w.eventually(t, "the cache to show the planned pods", func() bool { return w.getClaim(t, name).Annotations[karpv1.AnnotationPlannedPods] != "" })
}

// registered plays the claim's instance and returns its node once that is registered.
func (w *world) registered(t *testing.T, name string) *corev1.Node {
	t.Helper()
	w.join(t, "node-"+name, w.launched(t, name).Status.ProviderID)
	var n *corev1.Node
	w.eventually(t, "registration", func() bool {
		n = w.getNode(t, "node-"+name)
		return n.Labels[karpv1.LabelRegistered] == "true" && condition.IsTrue(w.getClaim(t, name).Status.Conditions, karpv1.ConditionRegistered)
	})
	return n
}

func (w *world) reservation(t *testing.T, name string) corev1.Taint {
	t.Helper()
	return karpv1.ReservedTaint(w.getClaim(t, name).UID)
}

func (w *world) reserved(t *testing.T, name string) bool {
	t.Helper()
	return slices.Contains(w.getNode(t, "node-"+name).Spec.Taints, w.reservation(t, name))
}
