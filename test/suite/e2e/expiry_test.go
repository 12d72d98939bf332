package e2e

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

// TestExpiry: a node that is as old as expireAfter allows is drained although the
// budgets let none go, its pods get a new node, and its instance ends. The NodePool
// forgets the age meanwhile, so that the new node stays.
func TestExpiry(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "expiry", plan{types: "m7a.large", capacity: "on-demand"})
	l.expire("15s")
	l.deploy("app", 2, "500m")
	var old string
	l.until("a claim that expires", func(ctx context.Context) (string, bool) {
		fleet, err := l.fleet(ctx)
		if err != nil || len(fleet) == 0 {
			return fmt.Sprintf("no claim (%v)", err), false
		}
		old = fleet[0].Claim
		claim := &karpv1.NodeClaim{}
		err = stack.Client.Get(ctx, types.NamespacedName{Name: old}, claim)
		return fmt.Sprintf("expireAfter %q (%v)", claim.Spec.ExpireAfter, err), err == nil && claim.Spec.ExpireAfter == "15s"
	})
	l.expire("Never")
	l.told("NodeClaim", "DisruptionTerminating", "15s")
	l.until("the old machine to go", gone(old))
	l.run(2)
	l.until("one machine", l.machines(1))
	if m := l.only(); m.Claim == old {
		t.Errorf("the pods still run on %s", old)
	}
}

// expire sets the expireAfter of the tenant's NodePool, and budgets that keep the nodes
// which are thereby drifted. It returns when the controller has seen that.
func (l *tenant) expire(after string) {
	l.Helper()
	pool := &karpv1.NodePool{}
	pool.Name = l.name
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"template":{"spec":{"expireAfter":%q}},"disruption":{"budgets":[{"nodes":"0"}]}}}`, after))
	if err := stack.Client.Patch(l.Context(), pool, patch); err != nil {
		l.Fatal(err)
	}
	l.until("the change to be seen", func(ctx context.Context) (string, bool) {
		seen := &karpv1.NodePool{}
		if err := stack.Client.Get(ctx, client.ObjectKeyFromObject(pool), seen); err != nil {
			return err.Error(), false
		}
		ready := meta.FindStatusCondition(seen.Status.Conditions, karpv1.ConditionReady)
		return harness.JSON(seen.Status.Conditions), ready != nil && ready.ObservedGeneration >= pool.Generation
	})
}
