package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/user"
)

// nodeAttacks are what a kubelet may write about its own node. The comparison of headroom
// and bill after each attack is made while the lie stands, too.
func nodeAttacks() map[string]attack {
	const spend = "the spend as EC2 bills it, and the headroom of its scope"
	return map[string]attack{
		"node/calls-itself-smaller": {
			story: "a node relabels itself as t4g.nano on spot", want: "it costs what it is; an event tells", keeps: spend,
			run: relabelled(map[string]string{corev1.LabelInstanceTypeStable: "t4g.nano", karpv1.LabelCapacityType: "spot"}),
		},
		"node/takes-its-labels-off": {
			story: "a node removes the labels by which its price is known", want: "it costs what it is; an event tells", keeps: spend,
			run: relabelled(map[string]string{corev1.LabelInstanceTypeStable: "", corev1.LabelTopologyZone: "", karpv1.LabelCapacityType: ""}),
		},
		"node/moves-to-another-pool": {
			story: "a node says that it belongs to another NodePool, whose scopes have room", want: "it stays in its own scopes; an event tells", keeps: spend,
			run: relabelled(map[string]string{karpv1.LabelNodePool: "general"}),
		},
		"node/overstates-itself": {
			story: "a node reports a thousand cores and a tebibyte, to attract pods and to use up its NodePool's limits", want: "it counts as its instance type; an event tells",
			keeps: "usage of the NodePool, plans", run: resized(map[corev1.ResourceName]string{"cpu": "1000", "memory": "1Ti"}),
		},
		"node/understates-itself": {
			story: "a node reports one millicore, so that its NodePool stays below its limits", want: "it counts as its instance type",
			keeps: "usage of the NodePool", run: resized(map[corev1.ResourceName]string{"cpu": "1m", "memory": "1Mi"}),
		},
		"node/joins-twice": {
			story: "somebody registers a second node with the provider ID of a node, which says that it is small and empty", want: "the instance counts once, at its price",
			keeps: spend + ", pods of others", run: joinsTwice,
		},
		"node/forges-annotations": {
			story: "a node writes the annotations of a launch and of a reservation on itself", want: "nobody reads them there", keeps: spend,
			run: func(t *testing.T) {
				patchNode(t, victim(t).Node, fmt.Sprintf(`{"metadata": {"annotations": {%q: "0", %q: "[]"}}}`, karpv1.AnnotationReservedUSD, karpv1.AnnotationLaunch),
					fmt.Sprintf(`{"metadata": {"annotations": {%q: null, %q: null}}}`, karpv1.AnnotationReservedUSD, karpv1.AnnotationLaunch))
				steady(t)
			},
		},
	}
}

// patchNode changes a node, and back when the attack ends.
func patchNode(t *testing.T, name, patch, back string) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := stack.Client.Patch(t.Context(), node, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.Client.Patch(context.WithoutCancel(t.Context()), node, client.RawPatch(types.MergePatchType, []byte(back))); err != nil {
			t.Error(err)
		}
	})
}

// steady wants the headroom of others to be what it is now, and the spend to be the bill, for
// some seconds.
func steady(t *testing.T) {
	t.Helper()
	steadyFor(t, 5*time.Second)
}

func steadyFor(t *testing.T, during time.Duration) {
	t.Helper()
	left := number(t, "spokeshave_headroom_usd", `scope="namespace/shop"`)
	err := stack.Holds(t.Context(), "headroom and spend", during, func(ctx context.Context) (string, bool) {
		now, err := metric(ctx, "spokeshave_headroom_usd", `scope="namespace/shop"`)
		told, failed := metric(ctx, "spokeshave_spend_running_usd", "")
		billed, unknown := bill(ctx)
		return fmt.Sprintf("headroom %.6f, was %.6f; spend %.4f, EC2 bills %.4f; %v %v %v", now, left, told, billed, err, failed, unknown),
			err == nil && failed == nil && unknown == nil && now == left && told >= billed
	})
	if err != nil {
		t.Fatal(err)
	}
}

func relabelled(labels map[string]string) func(*testing.T) {
	return func(t *testing.T) {
		name := victim(t).Node
		node := &corev1.Node{}
		if err := stack.Client.Get(t.Context(), types.NamespacedName{Name: name}, node); err != nil {
			t.Fatal(err)
		}
		base := node.DeepCopy()
		for key, value := range labels {
			if node.Labels[key] = value; value == "" {
				delete(node.Labels, key)
			}
		}
		lying := node.DeepCopy()
		if err := stack.Client.Patch(t.Context(), lying, client.MergeFrom(base)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			honest := base.DeepCopy()
			honest.ResourceVersion = lying.ResourceVersion
			if err := stack.Client.Patch(context.WithoutCancel(t.Context()), honest, client.MergeFrom(lying)); err != nil {
				t.Error(err)
			}
		})
		event(t, karpv1.EventNodeIdentityMismatch, name, "counted as what it is")
		until(t, "the metric of the alert", func(ctx context.Context) (string, bool) {
			n, err := metric(ctx, "spokeshave_nodes_mislabelled", "")
			return fmt.Sprint(n, err), n == 1
		})
		steady(t)
	}
}

// resized has the node of others report another size, and wants its NodePool's usage to stay.
func resized(size map[corev1.ResourceName]string) func(*testing.T) {
	return func(t *testing.T) {
		machine := victim(t)
		used := number(t, "karpenter_nodepools_usage", `nodepool="shop",resource_type="cpu"`)
		status, back := statusOf(t, machine.Node, size)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: machine.Node}}
		if err := stack.Client.Status().Patch(t.Context(), node, client.RawPatch(types.MergePatchType, status)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := stack.Client.Status().Patch(context.WithoutCancel(t.Context()), node, client.RawPatch(types.MergePatchType, back)); err != nil {
				t.Error(err)
			}
		})
		event(t, karpv1.EventNodeIdentityMismatch, machine.Node, "reports")
		steady(t)
		if now := number(t, "karpenter_nodepools_usage", `nodepool="shop",resource_type="cpu"`); now != used {
			t.Errorf("NodePool shop used %v cores, and uses %v", used, now)
		}
	}
}

func joinsTwice(t *testing.T) {
	node := &corev1.Node{}
	if err := stack.Client.Get(t.Context(), types.NamespacedName{Name: victim(t).Node}, node); err != nil {
		t.Fatal(err)
	}
	twin := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "aaa-twin", Labels: map[string]string{corev1.LabelInstanceTypeStable: "t4g.nano", karpv1.LabelNodePool: "general"}},
		Spec:       corev1.NodeSpec{ProviderID: node.Spec.ProviderID},
	}
	user.Create(t, stack.Client, twin)
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(stack.Client.Delete(context.WithoutCancel(t.Context()), twin)); err != nil {
			t.Error(err)
		}
	})
	steady(t)
}

// statusOf returns the patches that write a size to a node's status, and back.
func statusOf(t *testing.T, name string, size map[corev1.ResourceName]string) (lie, back []byte) {
	t.Helper()
	node := &corev1.Node{}
	if err := stack.Client.Get(t.Context(), types.NamespacedName{Name: name}, node); err != nil {
		t.Fatal(err)
	}
	type amounts map[corev1.ResourceName]string
	wrong, right := map[string]amounts{"capacity": {}, "allocatable": {}}, map[string]amounts{"capacity": {}, "allocatable": {}}
	for resource, amount := range size {
		capacity, allocatable := node.Status.Capacity[resource], node.Status.Allocatable[resource]
		wrong["capacity"][resource], wrong["allocatable"][resource] = amount, amount
		right["capacity"][resource], right["allocatable"][resource] = capacity.String(), allocatable.String()
	}
	return marshal(t, map[string]any{"status": wrong}), marshal(t, map[string]any{"status": right})
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
