package lifecycle

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// writes records what the reconciler sends of nodes and claims. The zero value is ready.
type writes struct {
	mu sync.Mutex
	// nodes are whether each write of a node says registered and initialized, by the name.
	nodes map[string][][2]bool
	// unready is when a claim was told that its node is not ready, by the claim's name.
	unready map[string]time.Time
}

func (w *writes) node(n *corev1.Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.nodes == nil {
		w.nodes = map[string][][2]bool{}
	}
	w.nodes[n.Name] = append(w.nodes[n.Name], [2]bool{n.Labels[karpv1.LabelRegistered] == "true", n.Labels[karpv1.LabelInitialized] == "true"})
}

func (w *writes) claim(c *karpv1.NodeClaim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cond := meta.FindStatusCondition(c.Status.Conditions, karpv1.ConditionRegistered)
	if _, told := w.unready[c.Name]; told || cond == nil || cond.Reason != "NodeNotReady" {
		return
	}
	if w.unready == nil {
		w.unready = map[string]time.Time{}
	}
	w.unready[c.Name] = time.Now()
}

// TestFewWrites: a node that has all it needs is registered and initialized by one write;
// that it is not ready yet is told when that lasts; few planned pods get their toleration
// when their node takes them, and many of them before.
func TestFewWrites(t *testing.T) {
	t.Parallel()
	w := start(t)
	few := w.planned(t, "few")
	c := w.claimFor(t, "few", option("m5.large"))
	c.Spec.StartupTaints, c.Annotations[karpv1.AnnotationPlannedPods] = nil, `["default/few"]`
	w.create(t, c)
	id := w.launched(t, "few").Status.ProviderID
	pods := make([]string, 0, 17)
	for i := range 17 {
		pods = append(pods, "default/"+w.planned(t, fmt.Sprint("many-", i)).Name)
	}
	w.plan(t, "many", pods...)
	w.launched(t, "many")
	w.tolerates(t, w.getPod(t, "many-16"), "many")
	if tolerates(w.getPod(t, "few")) {
		t.Error("one pod got its toleration while the instance boots: the scheduler tries it in vain")
	}
	w.joinWith(t, "node-few", id, karpv1.UnregisteredTaint())
	w.initialized(t, "few")
	w.tolerates(t, few, "few")
	w.faults.writes.mu.Lock()
	defer w.faults.writes.mu.Unlock()
	if all := w.faults.writes.nodes["node-few"]; slices.Contains(all, [2]bool{true, false}) {
		t.Errorf("of the node, registered and initialized were written one after the other: %v", all)
	}
	if at, told := w.faults.writes.unready["few"]; told && at.Sub(w.getNode(t, "node-few").CreationTimestamp.Time) < 5*time.Second {
		t.Error("the claim was told at once that its node is not ready")
	}
}

// TestUnreadyTold: a node that stays unready is named on its claim.
func TestUnreadyTold(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.claim(t, "slow-node", option("m5.large"))
	w.joinUnready(t, "node-slow-node", w.launched(t, "slow-node").Status.ProviderID)
	w.eventually(t, "the claim to say that its node is not ready", func() bool {
		c := meta.FindStatusCondition(w.getClaim(t, "slow-node").Status.Conditions, karpv1.ConditionRegistered)
		return c != nil && c.Reason == "NodeNotReady"
	})
}
