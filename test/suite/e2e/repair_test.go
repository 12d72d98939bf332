package e2e

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestRepair: a node whose storage has been broken for longer than it is given to
// mend is ended although the budgets let none go, and its pods get a new node.
func TestRepair(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "repair", plan{types: "m7i.large", capacity: "on-demand"})
	l.expire("Never") // no budget for anything
	l.deploy("app", 2, "500m")
	l.run(2)
	l.until("one machine", l.machines(1))
	old := l.only()
	node := &corev1.Node{}
	node.Name = old.Node
	since := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	patch := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"StorageReady","status":"False","lastTransitionTime":%q}]}}`, since)
	if err := stack.Client.Status().Patch(t.Context(), node, client.RawPatch(types.StrategicMergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
	l.told("NodeClaim", "DisruptionTerminating", "StorageReady", since)
	l.until("the old machine to go", gone(old.Claim))
	l.run(2)
	l.until("one machine", l.machines(1))
	if m := l.only(); m.Claim == old.Claim {
		t.Errorf("the pods still run on %s", old.Claim)
	}
}
