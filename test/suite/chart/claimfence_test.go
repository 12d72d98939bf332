package chart

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/eventually"
)

// nodeClaim returns a NodeClaim with annotations, as its JSON.
func nodeClaim(name string, annotations map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
		"metadata": map[string]any{"name": name, "annotations": annotations, "labels": map[string]any{
			"karpenter.sh/nodepool": "default", "node.kubernetes.io/instance-type": "m6g.2xlarge",
		}},
		"spec": map[string]any{
			"requirements": []any{}, "nodeClassRef": map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
		},
	}}
}

// checkClaimFence: nobody but the controller writes the launch options and prices of a
// NodeClaim. Otherwise others may make and change NodeClaims as before.
func (c *cluster) checkClaimFence(t *testing.T, config *rest.Config) {
	t.Helper()
	config = asController(config)
	resource := karpv1.GroupVersion.WithResource("nodeclaims")
	controller, others := dynamic.NewForConfigOrDie(config).Resource(resource), c.dynamic.Resource(resource)
	options := map[string]any{karpv1.AnnotationLaunch: `[{"instanceType":"m6g.2xlarge"}]`, karpv1.AnnotationReservedUSD: "0.3"}
	eventually.Ok(t, "the fence to stand", func() (string, bool) {
		_, err := others.Create(t.Context(), nodeClaim("forged", options), metav1.CreateOptions{})
		if err == nil {
			if err := others.Delete(t.Context(), "forged", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			return "a forged claim was created", false
		}
		return err.Error(), strings.Contains(err.Error(), "written by the controller only")
	})
	if _, err := others.Create(t.Context(), nodeClaim("by-hand", map[string]any{"example.com/a": "b"}), metav1.CreateOptions{}); err != nil {
		t.Errorf("a claim without options: %v", err)
	}
	if _, err := controller.Create(t.Context(), nodeClaim("decided", options), metav1.CreateOptions{}); err != nil {
		t.Fatalf("the controller: %v", err)
	}
	for name, tc := range map[string]struct {
		reason, claim, patch string
		denied               bool
	}{
		"options":       {"the options of a decision", "decided", `{"metadata": {"annotations": {"spokeshave.dev/launch": "[]"}}}`, true},
		"price":         {"what was reserved for it", "decided", `{"metadata": {"annotations": {"spokeshave.dev/reserved-usd": "0"}}}`, true},
		"removed":       {"a price that is taken away", "decided", `{"metadata": {"annotations": {"spokeshave.dev/reserved-usd": null}}}`, true},
		"added":         {"options for a claim without", "by-hand", `{"metadata": {"annotations": {"spokeshave.dev/launch": "[]"}}}`, true},
		"type":          {"the type by which it is priced", "decided", `{"metadata": {"labels": {"node.kubernetes.io/instance-type": "t4g.nano"}}}`, true},
		"pool":          {"the scopes in which it counts", "decided", `{"metadata": {"labels": {"karpenter.sh/nodepool": null}}}`, true},
		"capacity type": {"a label that is added", "decided", `{"metadata": {"labels": {"karpenter.sh/capacity-type": "spot"}}}`, true},
		"deadline":      {"when its drain ends whatever protects its pods", "decided", `{"metadata": {"annotations": {"karpenter.sh/nodeclaim-termination-timestamp": "2026-01-01T00:00:00Z"}}}`, true},
		"its deadline":  {"claims of Karpenter's, which writes that", "by-hand", `{"metadata": {"annotations": {"karpenter.sh/nodeclaim-termination-timestamp": "2026-01-01T00:00:00Z"}}}`, false},
		"do not":        {"annotations of users", "decided", `{"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}`, false},
		"label":         {"labels of users", "decided", `{"metadata": {"labels": {"team": "a"}}}`, false},
		"of others":     {"claims of other controllers", "by-hand", `{"metadata": {"labels": {"node.kubernetes.io/instance-type": "t4g.nano"}}}`, false},
	} {
		_, err := others.Patch(t.Context(), tc.claim, types.MergePatchType, []byte(tc.patch), metav1.PatchOptions{})
		if tc.denied != apierrors.IsInvalid(err) || !tc.denied && err != nil {
			t.Errorf("%s, %s: denied %v, want %v: %v", name, tc.reason, apierrors.IsInvalid(err), tc.denied, err)
		}
	}
	for name, tc := range map[string]struct {
		reason, claim, patch string
		denied               bool
	}{
		"instance":    {"the instance that is billed", "decided", `{"status": {"providerID": "aws:///a/i-1"}}`, true},
		"node":        {"the node that is its", "decided", `{"status": {"nodeName": "n"}}`, true},
		"size":        {"what counts towards limits", "decided", `{"status": {"capacity": {"cpu": "1"}}}`, true},
		"free":        {"what plans use", "decided", `{"status": {"allocatable": {"cpu": "1"}}}`, true},
		"image":       {"what drift reports", "decided", `{"status": {"imageID": "ami-1"}}`, true},
		"conditions":  {"what Karpenter writes when it takes over", "decided", `{"status": {"conditions": []}}`, false},
		"terminating": {"what no longer counts", "decided", `{"status": {"conditions": [{"type": "InstanceTerminating", "status": "True", "reason": "A", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`, true},
		"of others":   {"claims of other controllers", "by-hand", `{"status": {"providerID": "aws:///a/i-1"}}`, false},
	} {
		_, err := others.Patch(t.Context(), tc.claim, types.MergePatchType, []byte(tc.patch), metav1.PatchOptions{}, "status")
		if tc.denied != apierrors.IsInvalid(err) || !tc.denied && err != nil {
			t.Errorf("status, %s, %s: denied %v, want %v: %v", name, tc.reason, apierrors.IsInvalid(err), tc.denied, err)
		}
	}
	if _, err := controller.Patch(t.Context(), "decided", types.MergePatchType, []byte(`{"status": {"providerID": "aws:///a/i-1", "capacity": {"cpu": "1"}}}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Errorf("the controller is kept from its own status: %v", err)
	}
	if _, err := controller.Patch(t.Context(), "decided", types.MergePatchType, []byte(`{"metadata": {"annotations": {"spokeshave.dev/attempt": "{}"}, "labels": {"karpenter.sh/capacity-type": "spot"}}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("the controller is kept from its own claim: %v", err)
	}
	for _, name := range []string{"by-hand", "decided"} {
		if err := others.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete %s: %v", name, err)
		}
	}
}
