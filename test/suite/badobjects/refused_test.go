package badobjects

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/eventually"
)

// accepted returns the NodePool's condition NodeClaimsAccepted.
func (b *bench) accepted(t *testing.T, name string) metav1.Condition {
	t.Helper()
	pool := &karpv1.NodePool{}
	if err := b.client.Get(t.Context(), client.ObjectKey{Name: name}, pool); err != nil {
		t.Fatal(err)
	}
	for _, c := range pool.Status.Conditions {
		if c.Type == karpv1.ConditionNodeClaimsAccepted {
			return c
		}
	}
	return metav1.Condition{}
}

// TestRefusedPool. Actor: a platform team, whose admission policy does not accept claims
// of one NodePool. Expected: the claims of other NodePools are created in the same
// round; the NodePool says why by condition and event, its pods by their reason; it is
// not tried again before the pause is over, however often the loop is woken. Must not
// change: the pods of others have their nodes.
func TestRefusedPool(t *testing.T) {
	b := newBench(t)
	b.pool(t, "gpu", 50) // its claims come first
	b.refuse(t, "nodeclaims", "CREATE", `object.metadata.labels["karpenter.sh/nodepool"] != "gpu"`, claim("probe", "gpu", small))
	b.pod(t, "mine", "1", `, "nodeSelector": {"karpenter.sh/nodepool": "gpu"}`)
	b.pod(t, "yours", "1", `, "nodeSelector": {"karpenter.sh/nodepool": "general"}`)
	b.round(t, 2)
	if diff := cmp.Diff(map[string]string{"yours": "general"}, b.planned(t)); diff != "" {
		t.Fatalf("planned (-want +got)\n%s", diff)
	}
	c := b.accepted(t, "gpu")
	if c.Status != metav1.ConditionFalse || c.Reason != "NodeClaimRefused" || !strings.Contains(c.Message, "the platform team says no") {
		t.Errorf("condition %+v", c)
	}
	if !slices.ContainsFunc(b.told(), func(e string) bool {
		return strings.HasPrefix(e, "Warning NodeClaimRefused") && strings.Contains(e, "the platform team says no")
	}) {
		t.Error("no event on the NodePool")
	}
	for range 5 { // woken again and again
		if next := b.round(t, 2); next <= 0 {
			t.Errorf("the loop spins: next in %s", next)
		}
	}
	if why := b.waits("mine"); !strings.Contains(why, "the API server refuses the NodeClaim") || !strings.Contains(why, "the platform team says no") {
		t.Errorf("the pod waits: %q", why)
	}
	if n := b.count(t, "spokeshave_writes_refused_total", "NodeClaim"); n != 1 {
		t.Errorf("%v claims were refused within the pause, want 1", n)
	}
	b.clock.Step(20 * time.Second)
	b.round(t, 2)
	if n := b.count(t, "spokeshave_writes_refused_total", "NodeClaim"); n != 2 {
		t.Errorf("%v claims were refused after the pause, want 2", n)
	}
	p := &karpv1.NodePool{}
	if err := b.client.Get(t.Context(), client.ObjectKey{Name: "gpu"}, p); err != nil {
		t.Fatal(err)
	}
	if len(p.Status.Conditions) != 1 {
		t.Errorf("conditions %+v", p.Status.Conditions)
	}
}

// TestRefusedPod. Actor: a tenant, whose pod needs an instance type that an admission
// policy refuses. Expected: it alone waits. Must not change: other pods of the same
// NodePool get their nodes, at once and later.
func TestRefusedPod(t *testing.T) {
	b := newBench(t)
	b.refuse(t, "nodeclaims", "CREATE",
		`object.spec.requirements.all(r, r.key != "node.kubernetes.io/instance-type" || r.values.exists(v, v != "m5.2xlarge"))`, claim("probe", "general", large))
	b.pod(t, "large", "6", `, "nodeSelector": {"node.kubernetes.io/instance-type": "m5.2xlarge"}`)
	b.pod(t, "small", "1500m", `, "nodeSelector": {"node.kubernetes.io/instance-type": "m5.large"}`)
	b.round(t, 2)
	b.pod(t, "later", "1500m", `, "nodeSelector": {"node.kubernetes.io/instance-type": "m5.large"}`)
	b.round(t, 3)
	if diff := cmp.Diff(map[string]string{"small": "general", "later": "general"}, b.planned(t)); diff != "" {
		t.Errorf("planned (-want +got)\n%s", diff)
	}
	if why := b.waits("large"); !strings.HasPrefix(why, "HeldBack") {
		t.Errorf("the pod waits: %q", why)
	}
	if n := b.count(t, "spokeshave_pods_held_back"); n != 1 {
		t.Errorf("%v pods are held back", n)
	}
}

// TestRefusedPoolIsReplaced. Actor: the owner of a NodePool of high weight whose claims
// are refused. Expected: pods that fit another NodePool are launched from it in the next
// round, and when the owner edits the NodePool it is tried at once.
func TestRefusedPoolIsReplaced(t *testing.T) {
	b := newBench(t)
	b.pool(t, "first", 90)
	b.refuse(t, "nodeclaims", "CREATE", `object.metadata.labels["karpenter.sh/nodepool"] != "first" || has(object.spec.terminationGracePeriod)`, claim("probe", "first", small))
	b.pod(t, "a", "1")
	b.round(t, 1)
	b.round(t, 1)
	if diff := cmp.Diff(map[string]string{"a": "general"}, b.planned(t)); diff != "" {
		t.Fatalf("planned (-want +got)\n%s", diff)
	}
	pool := &karpv1.NodePool{}
	if err := b.client.Get(t.Context(), client.ObjectKey{Name: "first"}, pool); err != nil {
		t.Fatal(err)
	}
	if err := b.client.Patch(t.Context(), pool, client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"template": {"spec": {"terminationGracePeriod": "1h"}}}}`))); err != nil {
		t.Fatal(err)
	}
	b.pod(t, "b", "1", `, "nodeSelector": {"karpenter.sh/nodepool": "first"}`)
	eventually.Ok(t, "the edited NodePool launches", func() (string, bool) {
		b.round(t, 2)
		return b.waits("b"), b.planned(t)["b"] == "first"
	})
	eventually.Ok(t, "the condition is true again", func() (string, bool) {
		c := b.accepted(t, "first")
		return c.Message, c.Status == metav1.ConditionTrue
	})
}

// TestOneOfManyPods. Actor: a tenant, one of whose pods makes the API server refuse every
// claim that is created for it. Expected: the pods that were planned onto the same node
// get theirs without it, after few tries.
func TestOneOfManyPods(t *testing.T) {
	b := newBench(t)
	b.refuse(t, "nodeclaims", "CREATE", `!object.metadata.annotations["spokeshave.dev/planned-pods"].contains("default/bad")`, func() client.Object {
		c := claim("probe", "general", large)
		c.Annotations = map[string]string{karpv1.AnnotationPlannedPods: `["default/bad"]`}
		return c
	}())
	for _, name := range []string{"a", "b", "bad", "c", "d", "e"} {
		b.pod(t, name, "1")
	}
	for range 12 {
		b.round(t, 6)
		b.clock.Step(11 * time.Second)
	}
	got := b.planned(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if got[name] != "general" {
			t.Errorf("pod %s has no node: %s", name, b.waits(name))
		}
	}
	if n := b.count(t, "spokeshave_writes_refused_total", "NodeClaim"); n > 10 {
		t.Errorf("%v claims were refused in two minutes", n)
	}
}
