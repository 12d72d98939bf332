package attack

import (
	"context"
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// statusAttacks are made by somebody who may write nodeclaims/status: first against the
// chart's admission policy, then where somebody has deleted it.
func statusAttacks() map[string]attack {
	const unfenced, spend = ", in a cluster without the admission policy", "the spend as EC2 bills it, the headroom of others, their nodes"
	return map[string]attack{
		"editor/status-of-a-claim": {
			story: "somebody writes the status of a claim: instance, node, image, size, that it ends", want: "the API server refuses each", keeps: spend,
			run: func(t *testing.T) {
				for _, lie := range []string{
					`{"status": {"providerID": "aws:///us-west-2a/i-0123456789abcdef0"}}`, `{"status": {"nodeName": "another"}}`, `{"status": {"imageID": "ami-0"}}`,
					`{"status": {"capacity": {"cpu": "1000"}}}`, `{"status": {"allocatable": {"cpu": "1000"}}}`,
					`{"status": {"conditions": [{"type": "InstanceTerminating", "status": "True", "reason": "Lie", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`,
				} {
					refusedWrite(t, "in the status of a NodeClaim", writeStatus(t, victim(t).Claim, lie))
				}
			},
		},
		"editor/points-at-a-small-instance": {
			story: "somebody writes the instance of a cheap node into the claim of a dear one" + unfenced,
			want:  "EC2 says which instance the claim has: both count, and neither is ended; an event tells", keeps: spend, launches: true, run: pointsElsewhere,
		},
		"editor/points-at-nothing": {
			story: "somebody writes an instance that does not exist into a claim" + unfenced, want: "the instance counts, and is not ended; an event tells", keeps: spend,
			run: func(t *testing.T) {
				unfence(t)
				lie(t, victim(t).Claim, `{"status": {"providerID": "aws:///us-west-2a/i-0123456789abcdef0"}}`)
				event(t, karpv1.EventNodeIdentityMismatch, victim(t).Claim, "providerID")
				steadyFor(t, 40*time.Second) // longer than garbage collection lets an instance be
			},
		},
		"editor/overstates-a-claim": {
			story: "somebody writes a thousand cores into the status of a claim" + unfenced, want: "it counts as its instance type", keeps: spend + ", usage of the NodePool",
			run: func(t *testing.T) {
				unfence(t)
				used := number(t, "karpenter_nodepools_usage", `nodepool="shop",resource_type="cpu"`)
				lie(t, victim(t).Claim, `{"status": {"capacity": {"cpu": "1000"}, "allocatable": {"cpu": "1000"}}}`)
				steady(t)
				if now := number(t, "karpenter_nodepools_usage", `nodepool="shop",resource_type="cpu"`); now != used {
					t.Errorf("NodePool shop used %v cores, and uses %v", used, now)
				}
			},
		},
		"editor/conditions-of-a-claim": {
			story: "somebody writes that a claim was not launched, and that its node has not registered", want: "nothing is launched or ended, and the conditions come back",
			keeps: spend, run: conditionsOfAClaim,
		},
		"editor/forged-notice": {
			story: "somebody deletes the claim of a node that a pod keeps, and writes that EC2 takes the instance away, so that its cost counts no more",
			want:  "the annotations are refused; those of Karpenter's change nothing without the admission policy either, and the node counts until it ends", keeps: "the spend as EC2 bills it", launches: true, run: forgedNotice,
		},
		"editor/another-image": {
			story: "somebody writes another image into the status of a claim, so that its node drifts" + unfenced, want: "drift asks EC2 for the image", keeps: spend,
			run: func(t *testing.T) {
				unfence(t)
				lie(t, victim(t).Claim, `{"status": {"imageID": "ami-00000000000000000"}}`)
				steady(t)
				claim := &karpv1.NodeClaim{}
				if err := stack.Client.Get(t.Context(), types.NamespacedName{Name: victim(t).Claim}, claim); err != nil {
					t.Fatal(err)
				}
				for _, c := range claim.Status.Conditions {
					if c.Type == karpv1.ConditionDrifted && c.Status == metav1.ConditionTrue {
						t.Errorf("the node drifts: %s", c.Message)
					}
				}
			},
		},
	}
}

func conditionsOfAClaim(t *testing.T) {
	name := victim(t).Claim
	steps := []string{karpv1.ConditionLaunched, karpv1.ConditionRegistered, karpv1.ConditionInitialized}
	var lies []metav1.Condition
	for _, kind := range steps {
		lies = append(lies, metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: "Lie", LastTransitionTime: metav1.NewTime(time.Now().Add(-24 * time.Hour))})
	}
	if err := writeStatus(t, name, string(marshal(t, map[string]any{"status": map[string]any{"conditions": lies}}))); err != nil {
		t.Fatal(err)
	}
	steady(t) // while the lie stands, and after
	until(t, "the conditions to come back", func(ctx context.Context) (string, bool) {
		claim := &karpv1.NodeClaim{}
		err := stack.Client.Get(ctx, types.NamespacedName{Name: name}, claim)
		back := 0
		for _, kind := range steps {
			if meta.IsStatusConditionTrue(claim.Status.Conditions, kind) {
				back++
			}
		}
		return fmt.Sprintf("%d of %d, %v", back, len(steps), err), err == nil && back == len(steps)
	})
}

// writeStatus patches the status of a claim.
func writeStatus(t *testing.T, name, patch string) error {
	t.Helper()
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return stack.Client.Status().Patch(t.Context(), claim, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// lie writes the status of a claim, and what was there before when the attack ends.
func lie(t *testing.T, name, patch string) {
	t.Helper()
	claim := &karpv1.NodeClaim{}
	if err := stack.Client.Get(t.Context(), types.NamespacedName{Name: name}, claim); err != nil {
		t.Fatal(err)
	}
	truth := marshal(t, map[string]any{"status": map[string]any{
		"providerID": claim.Status.ProviderID, "imageID": claim.Status.ImageID, "capacity": claim.Status.Capacity, "allocatable": claim.Status.Allocatable,
	}})
	if err := writeStatus(t, name, patch); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.Client.Status().Patch(context.WithoutCancel(t.Context()), claim, client.RawPatch(types.MergePatchType, truth)); err != nil {
			t.Error(err)
		}
	})
}

// unfence takes the chart's admission policy of NodeClaims out of force while the attack
// lasts.
func unfence(t *testing.T) {
	t.Helper()
	const name = "spokeshave-spokeshave-nodeclaims"
	claim := victim(t).Claim
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := stack.Client.Get(t.Context(), types.NamespacedName{Name: name}, binding); err != nil {
		t.Fatal(err)
	}
	if err := stack.Client.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		binding.ResourceVersion, binding.UID = "", ""
		if err := stack.Client.Create(ctx, binding); err != nil {
			t.Error(err)
		}
		err := stack.Until(ctx, "the admission policy to be in force again", time.Minute, func(ctx context.Context) (string, bool) {
			err := annotate(ctx, claim)
			return fmt.Sprint(err), err != nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	until(t, "the admission policy to be out of force", func(ctx context.Context) (string, bool) {
		err := annotate(ctx, claim)
		return fmt.Sprint(err), err == nil
	})
}

// annotate tries whether an annotation of the controller's can be written on a claim.
func annotate(ctx context.Context, name string) error {
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"annotations": {"spokeshave.dev/probe": "x"}}}`))
	return stack.Client.Patch(ctx, claim, patch, client.DryRunAll)
}

func pointsElsewhere(t *testing.T) {
	work(t, 1)
	fleet, err := general(t.Context())
	if err != nil || len(fleet) == 0 {
		t.Fatalf("the other node: %d, %v", len(fleet), err)
	}
	other := &karpv1.NodeClaim{}
	if err := stack.Client.Get(t.Context(), types.NamespacedName{Name: fleet[0].Claim}, other); err != nil {
		t.Fatal(err)
	}
	t.Run("while the lie stands", func(t *testing.T) {
		unfence(t)
		lie(t, victim(t).Claim, fmt.Sprintf(`{"status": {"providerID": %q}}`, other.Status.ProviderID))
		event(t, karpv1.EventNodeIdentityMismatch, victim(t).Claim, "providerID")
		steadyFor(t, 40*time.Second)
	})
	work(t, 0)
}
