package actuate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
)

// TestAssignReserved: a pod that the plan puts on a node that has joined is planned there
// while the node is reserved, because the scheduler could not bind it otherwise, and left to
// the scheduler when the node takes any pod.
func TestAssignReserved(t *testing.T) {
	c := connect(t)
	machine(t, c, "one", "claim-1")
	claim := &karpv1.NodeClaim{}
	a := &actuate.Actuator{Client: c}
	s := &model.Snapshot{
		Nodes: []model.Node{{Name: "one", Claim: "claim-1", State: model.Initialized}},
		Pods:  []model.Pod{{Namespace: "default", Name: "a"}, {Namespace: "default", Name: "b"}}, Specs: []model.PodSpec{{}},
	}
	for _, step := range []struct {
		reason string
		taints []corev1.Taint
		pod    int32
		want   string
	}{
		{"the node takes any pod", nil, 0, ""},
		{"the node is reserved", []corev1.Taint{karpv1.ReservedTaint("claim-1")}, 1, `["default/b"]`},
	} {
		node := &corev1.Node{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "one"}, node); err != nil {
			t.Fatal(err)
		}
		node.Spec.Taints = step.taints
		if err := c.Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		done, err := a.Assign(t.Context(), s, &decide.Decision{Plan: model.Plan{Existing: []model.Assignment{{Node: 0, Pods: []int32{step.pod}}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "claim-1"}, claim); err != nil {
			t.Fatal(err)
		}
		if got := claim.Annotations[karpv1.AnnotationPlannedPods]; got != step.want || done.Planned["claim-1"] != step.want {
			t.Errorf("%s: planned pods are %q, the next decision waits for %q, want %q", step.reason, got, done.Planned["claim-1"], step.want)
		}
	}
}
