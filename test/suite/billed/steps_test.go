package billed

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/test/kit/eventually"
)

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

func (w *billedCluster) snapshot(t *testing.T) *model.Snapshot {
	t.Helper()
	view, err := w.view.Snapshot(t.Context(), lower.Rollout{})
	if err != nil {
		t.Fatal(err)
	}
	return &view.Snapshot
}

// decide decides under a cap on the cluster.
func (w *billedCluster) decide(t *testing.T, limit model.Price) *decide.Decision {
	t.Helper()
	d, err := decide.Decide(t.Context(), w.snapshot(t), []policy.Policy{nearlyFree{cap: limit}}, decide.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

func (w *billedCluster) wantNodes(t *testing.T, limit model.Price, want int) {
	t.Helper()
	if d := w.decide(t, limit); len(d.Plan.Nodes) != want {
		t.Errorf("a cap of %s $/h lets %d nodes be launched, want %d", limit, len(d.Plan.Nodes), want)
	}
}

func (w *billedCluster) wantLeft(t *testing.T, when string, limit, want model.Price) {
	t.Helper()
	d := w.decide(t, limit)
	if len(d.Headroom) != 1 || d.Headroom[0].Left != want || d.Headroom[0].Burn != limit-want {
		t.Errorf("%s: headroom %+v, want %s left", when, d.Headroom, want)
	}
}

// launch makes the decision's claims, and waits until the watches show them.
func (w *billedCluster) launch(t *testing.T, d *decide.Decision) {
	t.Helper()
	view, err := w.view.Snapshot(t.Context(), lower.Rollout{})
	if err != nil {
		t.Fatal(err)
	}
	done, err := w.events.Launch(t.Context(), &view.Snapshot, view.Pools, d)
	if err != nil || len(done.Claims) != len(d.Plan.Nodes) {
		t.Fatalf("launched %v: %v", done.Claims, err)
	}
	eventually.True(t, "the claims are seen", func() bool { return len(w.snapshot(t).Nodes) == len(done.Claims) })
}

func (w *billedCluster) claims(t *testing.T) []string {
	t.Helper()
	var all karpv1.NodeClaimList
	if err := w.client.List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range all.Items {
		out = append(out, all.Items[i].Name)
	}
	slices.Sort(out)
	return out
}

func (w *billedCluster) claim(t *testing.T, name string) *karpv1.NodeClaim {
	t.Helper()
	out := &karpv1.NodeClaim{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Name: name}, out); err != nil {
		t.Fatal(err)
	}
	return out.DeepCopy()
}

// run plays the launch of a claim and its node, as the reconcilers write them.

func (w *billedCluster) run(t *testing.T, name string, number int) {
	t.Helper()
	c := w.claim(t, name)
	labels := map[string]string{
		corev1.LabelInstanceTypeStable: "m7i.large", corev1.LabelTopologyZone: "us-west-2a", karpv1.LabelCapacityType: string(model.OnDemand),
	}
	base := c.DeepCopy()
	maps.Copy(c.Labels, labels)
	if err := w.client.Patch(t.Context(), c, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	id := instances.ProviderID("us-west-2a", "i-0000000000000000"+string(rune('a'+number)))
	amounts := corev1.ResourceList{corev1.ResourceCPU: quantity("1930m"), corev1.ResourceMemory: quantity("7Gi"), corev1.ResourcePods: quantity("29")}
	labels[karpv1.LabelNodePool] = "general"
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: corev1.NodeSpec{ProviderID: id}}
	if err := w.client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	before := node.DeepCopy()
	node.Status.Capacity, node.Status.Allocatable = amounts, amounts
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := w.client.Status().Patch(t.Context(), node, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	c.Status.ProviderID, c.Status.NodeName = id, name
	for _, kind := range []string{karpv1.ConditionLaunched, karpv1.ConditionRegistered, karpv1.ConditionInitialized} {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: metav1.Now(),
		})
	}
	if err := w.client.Status().Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the node of "+name+" is seen", func() bool {
		return slices.ContainsFunc(w.snapshot(t).Nodes, func(n model.Node) bool { return n.Claim == name && n.State == model.Initialized })
	})
}
