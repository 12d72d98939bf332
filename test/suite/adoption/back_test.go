package adoption

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/karpenter"
)

// back: with a launch that EC2 refuses under way, the controller is stopped. What is left
// is what Karpenter would have left.
func back(t *testing.T, _ *state) {
	if err := stack.Control(t.Context(), "/_sim/faults", map[string]any{"action": "CreateFleet", "code": "UnauthorizedOperation", "forever": true}, nil); err != nil {
		t.Fatal(err)
	}
	if err := stack.Scale(t.Context(), "default", "d-never", 9); err != nil {
		t.Fatal(err)
	}
	var refused *karpv1.NodeClaim
	wait(t, "a launch to be refused", time.Minute, func(ctx context.Context) (string, bool) {
		var claims karpv1.NodeClaimList
		if err := stack.Client.List(ctx, &claims); err != nil {
			return err.Error(), false
		}
		for i := range claims.Items {
			c := &claims.Items[i]
			launched := meta.FindStatusCondition(c.Status.Conditions, karpv1.ConditionLaunched)
			if launched != nil && launched.Status != metav1.ConditionTrue && strings.Contains(launched.Message, "UnauthorizedOperation") {
				refused = c
			}
		}
		return fmt.Sprintf("%d claims", len(claims.Items)), refused != nil
	})
	stop(t)
	for _, kind := range []string{karpv1.ConditionLaunched, karpv1.ConditionRegistered, karpv1.ConditionInitialized, karpv1.ConditionReady} {
		if c := meta.FindStatusCondition(refused.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionFalse {
			t.Errorf("claim %s has %s=False, with which Karpenter waits for ever: %s", refused.Name, kind, told(refused))
		}
	}
	leftNodes(t)
	leftClaims(t)
	leftHashes(t)
	lease := &coordinationv1.Lease{}
	if err := stack.Client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "karpenter-leader-election"}, lease); err != nil {
		t.Fatal(err)
	}
	if holder := lease.Spec.HolderIdentity; holder != nil && *holder != "" {
		t.Errorf("Karpenter has to wait for its lease: %s holds it", *holder)
	}
}

// leftNodes: no node keeps a taint of a controller's but those that Karpenter's own
// nodes have. A node that has joined and that no controller has registered yet has the
// taint for that, and no finalizer, as every node of Karpenter's at that moment.
func leftNodes(t *testing.T) {
	t.Helper()
	var nodes corev1.NodeList
	if err := stack.Client.List(t.Context(), &nodes, client.HasLabels{karpv1.LabelNodePool}); err != nil {
		t.Fatal(err)
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if n.Labels[karpv1.LabelRegistered] == "" {
			continue
		}
		if slices.ContainsFunc(n.Spec.Taints, ofControllers) || !slices.Equal(n.Finalizers, []string{karpv1.FinalizerTermination}) {
			t.Errorf("node %s is left with taints %v and finalizers %v", n.Name, n.Spec.Taints, n.Finalizers)
		}
	}
}

// leftClaims: claims have Karpenter's finalizer and labels; what is added are
// annotations, which Karpenter does not read.
func leftClaims(t *testing.T) {
	t.Helper()
	var claims karpv1.NodeClaimList
	if err := stack.Client.List(t.Context(), &claims); err != nil {
		t.Fatal(err)
	}
	for i := range claims.Items {
		c := &claims.Items[i]
		if !slices.Equal(c.Finalizers, []string{karpv1.FinalizerTermination}) {
			t.Errorf("claim %s has finalizers %v", c.Name, c.Finalizers)
		}
		for key := range c.Labels {
			if strings.HasPrefix(key, karpv1.Domain+"/") {
				t.Errorf("claim %s has label %s", c.Name, key)
			}
		}
	}
}

// leftHashes: pools and classes that nobody changed have the hashes that Karpenter wrote,
// and every claim that of its pool and class.
func leftHashes(t *testing.T) {
	t.Helper()
	objects, err := karpenter.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		key, changed := "", []string(nil)
		switch o.GetKind() {
		case "NodePool":
			key, changed = karpv1.AnnotationNodePoolHash, []string{"general", "taints", "static"}
		case "EC2NodeClass":
			key, changed = awsv1.AnnotationEC2NodeClassHash, []string{"kubelet"}
		default:
			continue
		}
		want := o.GetAnnotations()[key]
		if err := stack.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		if got := o.GetAnnotations()[key]; (got != want) != slices.Contains(changed, o.GetName()) {
			t.Errorf("%s %s has hash %s, Karpenter wrote %s", o.GetKind(), o.GetName(), got, want)
		}
	}
}
