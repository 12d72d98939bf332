package e2e

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// TestStatic: a NodePool with replicas has its nodes without any pod, gets lost
// ones back, and gives them up when there are too many.
func TestStatic(t *testing.T) {
	t.Parallel()
	l := newLab(t, "static", plan{types: "m5ad.large", capacity: "on-demand", after: "0s", replicas: 2})
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
