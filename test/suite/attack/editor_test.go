package attack

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// editorAttacks are made by somebody who may create and change NodeClaims.
func editorAttacks() map[string]attack {
	const keeps = "instances, caps, what claims say about their price"
	return map[string]attack{
		"editor/claim-past-a-cap": {
			story: "somebody makes a NodeClaim by hand in a NodePool whose cap is a cent", want: "no launch, and an event says why", keeps: keeps, run: claimPastACap,
		},
		"editor/forged-options": {
			story: "somebody makes a NodeClaim with options of a launch and a price of nothing", want: "the API server refuses it", keeps: keeps,
			run: func(t *testing.T) {
				claim := handmade("forged", "general")
				claim.Annotations = map[string]string{
					karpv1.AnnotationLaunch:      `[{"instanceType":"m5.24xlarge","zone":"us-west-2a","capacityType":"on-demand","price":1}]`,
					karpv1.AnnotationReservedUSD: "0.000001",
				}
				refusedWrite(t, "written by the controller only", stack.Client.Create(t.Context(), claim))
			},
		},
		"editor/exponents": {
			story: "somebody makes NodePools and NodeClaims with amounts whose exponent has eight digits, or that are none", want: "pods of others get their nodes", keeps: keeps, launches: true,
			run: exponents,
		},
		"editor/relabels-a-claim": {
			story: "somebody relabels the claim of a node as t4g.nano, from which its price follows", want: "the API server refuses it", keeps: keeps,
			run: func(t *testing.T) {
				refusedWrite(t, "priced as what it is", patchClaim(t, victim(t).Claim, `{"metadata": {"labels": {"node.kubernetes.io/instance-type": "t4g.nano"}}}`))
			},
		},
		"editor/strips-a-claim": {
			story: "somebody removes from a claim at what price it was launched", want: "the API server refuses it", keeps: keeps,
			run: func(t *testing.T) {
				refusedWrite(t, "written by the controller only", patchClaim(t, victim(t).Claim, fmt.Sprintf(`{"metadata": {"annotations": {%q: null}}}`, karpv1.AnnotationLaunch)))
			},
		},
	}
}

// handmade returns a NodeClaim of a NodePool without options of a launch.
func handmade(name, pool string) *karpv1.NodeClaim {
	return &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{karpv1.LabelNodePool: pool}},
		Spec: karpv1.NodeClaimSpec{
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
			Requirements: []karpv1.Requirement{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"m5.large", "m5.24xlarge"}}},
		},
	}
}

func patchClaim(t *testing.T, name, patch string) error {
	t.Helper()
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return stack.Client.Patch(t.Context(), claim, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// refusedWrite wants the error of a write to be a refusal with a text.
func refusedWrite(t *testing.T, text string, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("the API server said %v, want a refusal with %q", err, text)
	}
}

func claimPastACap(t *testing.T) {
	claim := handmade("by-hand", "general")
	install(t, "cent", "hooks: [ceiling]\n", ceilingOn("nodepool/general", 0.01))
	status(t, "cent", "Active")
	if err := stack.Client.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := client.IgnoreNotFound(stack.Client.Delete(ctx, claim)); err != nil {
			t.Error(err)
		}
		err := stack.Until(ctx, "the claim to go", time.Minute, func(ctx context.Context) (string, bool) {
			err := stack.Client.Get(ctx, client.ObjectKeyFromObject(claim), claim)
			return "it is there", apierrors.IsNotFound(err)
		})
		if err != nil {
			t.Error(err)
		}
	})
	event(t, karpv1.EventLaunchFailed, "by-hand", "cent")
}
