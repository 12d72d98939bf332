package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

// TestStatic: a NodePool with replicas has its nodes without any pod, gets lost
// ones back, and gives them up when there are too many.
func TestStatic(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "static", plan{types: "m5ad.large", capacity: "on-demand", after: "0s", replicas: 2})
	l.until("two machines", l.machines(2))
	fleet, err := l.fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.remove(&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fleet[0].Claim}})
	l.until("the deleted one to go", gone(fleet[0].Claim))
	l.until("two machines again", l.machines(2))
	pool := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: l.name}}
	for _, replicas := range []int{3, 1} {
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
		if err := stack.Client.Patch(t.Context(), pool, patch); err != nil {
			t.Fatal(err)
		}
		l.until(fmt.Sprintf("%d machines", replicas), l.machines(replicas))
	}
}

// TestStaticDrift: the nodes of a static NodePool are replaced when its template
// changes, though nothing runs on them, and there are never fewer than replicas.
func TestStaticDrift(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "static-drift", plan{types: "m5ad.large", capacity: "on-demand", replicas: 2})
	l.until("two machines", l.machines(2))
	before, err := l.fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pool := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: l.name}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"template":{"metadata":{"labels":{"edition":"second"}}}}}`))
	if err := stack.Client.Patch(t.Context(), pool, patch); err != nil {
		t.Fatal(err)
	}
	fewest := len(before)
	l.until("two other machines", func(ctx context.Context) (string, bool) {
		fleet, err := l.fleet(ctx)
		if err != nil {
			return err.Error(), false
		}
		up, old := 0, 0
		for i := range fleet {
			if fleet[i].Initialized && !fleet[i].Deleting {
				up++
			}
			if slices.ContainsFunc(before, func(m harness.Machine) bool { return m.Claim == fleet[i].Claim }) {
				old++
			}
		}
		fewest = min(fewest, up)
		state, done := l.machines(2)(ctx)
		return fmt.Sprintf("%s; %d of the first", state, old), done && old == 0
	})
	if fewest < len(before) {
		t.Errorf("%d of %d nodes were up at one time", fewest, len(before))
	}
	var nodes corev1.NodeList
	if err := stack.Client.List(t.Context(), &nodes, client.MatchingLabels{"tenant": l.name, "edition": "second"}); err != nil || len(nodes.Items) != 2 {
		t.Errorf("%d nodes of the second edition, want 2: %v", len(nodes.Items), err)
	}
}
