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

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/eventually"
)

// checkPoolFence: of NodePools and EC2NodeClasses, the controller writes the hashes by which drift is
// found, until when launches pause, its finalizer and the status. Others may change them as before.
func (c *cluster) checkPoolFence(t *testing.T, config *rest.Config) {
	t.Helper()
	config = asController(config)
	pools, classes := karpv1.GroupVersion.WithResource("nodepools"), awsv1.GroupVersion.WithResource("ec2nodeclasses")
	controller := dynamic.NewForConfigOrDie(config)
	meta := map[string]any{"name": "fenced", "annotations": map[string]any{"example.com/a": "b"}, "finalizers": []any{"example.com/f"}}
	for resource, o := range map[string]*unstructured.Unstructured{
		"nodepools": {Object: map[string]any{
			"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": meta,
			"spec": map[string]any{"limits": map[string]any{"cpu": "10"}, "template": map[string]any{"spec": map[string]any{
				"requirements": []any{}, "nodeClassRef": map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "fenced"},
			}}},
		}},
		"ec2nodeclasses": {Object: map[string]any{
			"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": meta,
			"spec": map[string]any{
				"role": "nodes", "amiSelectorTerms": []any{map[string]any{"alias": "al2023@latest"}},
				"subnetSelectorTerms":        []any{map[string]any{"id": "subnet-1"}},
				"securityGroupSelectorTerms": []any{map[string]any{"id": "sg-1"}},
			},
		}},
	} {
		of := pools
		if resource == "ec2nodeclasses" {
			of = classes
		}
		if _, err := c.dynamic.Resource(of).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatalf("create one of %s: %v", resource, err)
		}
	}
	patch := func(by dynamic.Interface, kind, text string, subresources ...string) error {
		of := pools
		if kind == "class" {
			of = classes
		}
		_, err := by.Resource(of).Patch(t.Context(), "fenced", types.MergePatchType, []byte(text), metav1.PatchOptions{}, subresources...)
		return err
	}
	const limits = `{"spec": {"limits": {"cpu": "1000"}}}`
	eventually.Ok(t, "the fence to stand", func() (string, bool) {
		err := patch(controller, "pool", limits)
		if err == nil {
			if err := patch(c.dynamic, "pool", `{"spec": {"limits": {"cpu": "10"}}}`); err != nil {
				t.Fatal(err)
			}
			return "the controller has changed limits", false
		}
		return err.Error(), strings.Contains(err.Error(), "does not change what a NodePool or EC2NodeClass specifies")
	})
	for name, tc := range map[string]struct {
		reason, kind, text string
		denied             bool
	}{
		"limits":                {"what a pool may launch in all", "pool", limits, true},
		"role":                  {"what nodes may do in AWS", "class", `{"spec": {"role": "admin"}}`, true},
		"another's annotation":  {"annotations of users", "pool", `{"metadata": {"annotations": {"example.com/a": "c"}}}`, true},
		"an annotation removed": {"annotations of users", "class", `{"metadata": {"annotations": {"example.com/a": null}}}`, true},
		"a setting":             {"the price of moves is the user's", "pool", `{"metadata": {"annotations": {"spokeshave.dev/move-cost": "0"}}}`, true},
		"label":                 {"policies match by them", "pool", `{"metadata": {"labels": {"team": "a"}}}`, true},
		"another's finalizer":   {"others rely on theirs", "class", `{"metadata": {"finalizers": []}}`, true},
		"hash":                  {"drift is found by it", "pool", `{"metadata": {"annotations": {"karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3"}}}`, false},
		"pause":                 {"launches fail", "pool", `{"metadata": {"annotations": {"spokeshave.dev/launches-paused-until": "2026-01-01T00:00:00Z denied"}}}`, false},
		"finalizer and hash":    {"instances go before their class", "class", `{"metadata": {"finalizers": ["example.com/f", "karpenter.k8s.aws/termination"], "annotations": {"karpenter.k8s.aws/ec2nodeclass-hash": "1"}}}`, false},
		"finalizer removed":     {"instances are gone", "class", `{"metadata": {"finalizers": ["example.com/f"]}}`, false},
	} {
		if err := patch(controller, tc.kind, tc.text); tc.denied != apierrors.IsInvalid(err) || !tc.denied && err != nil {
			t.Errorf("%s, %s: denied %v, want %v: %v", name, tc.reason, apierrors.IsInvalid(err), tc.denied, err)
		}
	}
	if err := patch(controller, "pool", `{"status": {"conditions": []}}`, "status"); err != nil {
		t.Errorf("the controller is kept from the status: %v", err)
	}
	for kind, text := range map[string]string{"pool": limits, "class": `{"spec": {"role": "other"}, "metadata": {"labels": {"team": "a"}}}`} {
		if err := patch(c.dynamic, kind, text); err != nil {
			t.Errorf("others are kept from their %s: %v", kind, err)
		}
		if err := patch(c.dynamic, kind, `{"metadata": {"finalizers": []}}`); err != nil {
			t.Error(err)
		}
	}
	for _, of := range []dynamic.ResourceInterface{c.dynamic.Resource(pools), c.dynamic.Resource(classes)} {
		if err := of.Delete(t.Context(), "fenced", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
}
