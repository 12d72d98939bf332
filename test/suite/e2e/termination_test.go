package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// TestDelete: kubectl delete of a node or of its claim drains the node, ends
// the instance, and the pods get a new one.
func TestDelete(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		types  string
		object func(harness.Machine) client.Object
	}{
		"node": {"operators delete nodes", "m6i.large", func(m harness.Machine) client.Object {
			return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.Node}}
		}},
		"claim": {"or their claims", "m6a.large", func(m harness.Machine) client.Object {
			return &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: m.Claim}}
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newTenant(t, "delete-"+name, plan{types: tt.types, capacity: "on-demand"})
			l.deploy("app", 2, "500m")
			l.run(2)
			l.until("one machine", l.machines(1))
			old := l.only()
			l.remove(tt.object(old))
			l.until("the old machine to go", gone(old.Claim))
			l.run(2)
			l.until("one machine again", l.machines(1))
			if next := l.only(); next.Node == old.Node {
				t.Errorf("%s: the pods still run on %s", tt.reason, old.Node)
			}
		})
	}
}

// TestDeletePool: what a NodePool launched goes with it.
func TestDeletePool(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "delete-pool", plan{types: "r5a.large", capacity: "on-demand"})
	l.deploy("app", 1, "500m")
	l.run(1)
	l.until("one machine", l.machines(1))
	l.remove(&karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: l.name}})
	l.until("the machine to go", l.machines(0))
}

// TestDisruptionBudget: a PodDisruptionBudget holds a drain up, and nothing
// else does.
func TestDisruptionBudget(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "budget", plan{types: "r5.large", capacity: "on-demand"})
	l.deploy("app", 2, "500m")
	l.run(2)
	l.until("one machine", l.machines(1))
	all := intstr.FromString("100%")
	pdb := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.name, Name: "app"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &all, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "app"}},
		},
	}
	if err := stack.Client.Create(t.Context(), pdb); err != nil {
		t.Fatal(err)
	}
	l.until("the budget to be counted", func(ctx context.Context) (string, bool) {
		now := &policyv1.PodDisruptionBudget{}
		err := stack.Client.Get(ctx, client.ObjectKeyFromObject(pdb), now)
		return "not counted", err == nil && now.Status.ExpectedPods == 2
	})
	old := l.only()
	l.remove(&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: old.Claim}})
	l.told("Node", "FailedDraining", "app")
	on := func(ctx context.Context) (string, bool) {
		pods, err := stack.Pods(ctx, l.name, nil)
		n := 0
		for i := range pods {
			if pods[i].Spec.NodeName == old.Node {
				n++
			}
		}
		return "pods were evicted in spite of the budget", err == nil && n == 2
	}
	l.holds("the pods stay", 3*time.Second, on)
	l.remove(pdb)
	l.until("the old machine to go", gone(old.Claim))
	l.run(2)
	l.until("one machine", l.machines(1))
}
