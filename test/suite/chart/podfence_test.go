package chart

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"spokeshave.dev/test/kit/eventually"
)

// asController returns a configuration with which requests come from the controller's service account.
func asController(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:system:spokeshave",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:system", "system:authenticated"},
	}
	return config
}

// checkFence: of all that could be patched in a pod, the controller may add the
// toleration of a reserved node, to a pod that waits. Others may patch as before.
func (c *cluster) checkFence(t *testing.T, config *rest.Config) {
	t.Helper()
	waiting := c.pod(t, "waiting", nil)
	placed := c.pod(t, "placed", nil)
	if err := c.client.CoreV1().Pods("default").Bind(t.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: "placed"}, Target: corev1.ObjectReference{Kind: "Node", Name: "system"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	gated := c.pod(t, "gated", []corev1.PodSchedulingGate{{Name: "example.com/gate"}})

	config = asController(config)
	controller := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default")
	patch := func(ctx context.Context, pod *corev1.Pod, kind types.PatchType, text string) error {
		_, err := controller.Patch(ctx, pod.Name, kind, []byte(text), metav1.PatchOptions{})
		return err
	}
	const add = `[{"op": "add", "path": "/spec/tolerations/-", "value": `
	const own = add + `{"key": "spokeshave.dev/reserved", "operator": "Equal", "value": "uid", "effect": "NoSchedule"}}]`
	probe := 0
	eventually.True(t, "the fence stands", func() bool {
		probe++
		err := patch(t.Context(), waiting, types.MergePatchType, fmt.Sprintf(`{"metadata": {"labels": {"probe": "%d"}}}`, probe))
		if err != nil && !apierrors.IsInvalid(err) {
			t.Fatal(err)
		}
		return err != nil
	})
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		kind types.PatchType
		text string
	}{
		"a label":                   {waiting, types.MergePatchType, `{"metadata": {"labels": {"app": "other"}}}`},
		"an annotation":             {waiting, types.MergePatchType, `{"metadata": {"annotations": {"a": "b"}}}`},
		"a finalizer":               {waiting, types.MergePatchType, `{"metadata": {"finalizers": ["example.com/f"]}}`},
		"an owner":                  {waiting, types.MergePatchType, `{"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u"}]}}`},
		"an image":                  {waiting, types.JSONPatchType, `[{"op": "replace", "path": "/spec/containers/0/image", "value": "example.com/other:1"}]`},
		"an init container's image": {waiting, types.JSONPatchType, `[{"op": "replace", "path": "/spec/initContainers/0/image", "value": "example.com/other:1"}]`},
		"a deadline":                {waiting, types.MergePatchType, `{"spec": {"activeDeadlineSeconds": 1}}`},
		"another toleration":        {waiting, types.JSONPatchType, add + `{"operator": "Exists"}}]`},
		"a toleration's seconds":    {waiting, types.JSONPatchType, `[{"op": "replace", "path": "/spec/tolerations/0/tolerationSeconds", "value": 1}]`},
		"a gate":                    {gated, types.MergePatchType, `{"spec": {"schedulingGates": null}}`},
		"a gated pod's selector":    {gated, types.MergePatchType, `{"spec": {"nodeSelector": {"a": "b"}}}`},
		"a gated pod's affinity":    {gated, types.MergePatchType, `{"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}}}}`},
		"a pod that has a node":     {placed, types.JSONPatchType, own},
	} {
		if err := patch(t.Context(), tc.pod, tc.kind, tc.text); !apierrors.IsInvalid(err) {
			t.Errorf("the controller changes %s: %v", name, err)
		}
	}
	if err := patch(t.Context(), waiting, types.JSONPatchType, own); err != nil {
		t.Errorf("the controller may not add its toleration: %v", err)
	}
	if _, err := c.client.CoreV1().Pods("default").Patch(t.Context(), "waiting", types.MergePatchType, []byte(`{"metadata": {"labels": {"app": "other"}}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("the fence is in the way of others: %v", err)
	}
	for _, pod := range []*corev1.Pod{waiting, placed, gated} {
		if err := c.client.CoreV1().Pods("default").Delete(t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
			t.Error(err)
		}
	}
}

// pod makes one that fits on no node.
func (c *cluster) pod(t *testing.T, name string, gates []corev1.PodSchedulingGate) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "example.com/init:1"}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/app:1"}}
	p.Spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(7))}}
	p.Spec.SchedulingGates = gates
	if gates == nil {
		p.Spec.NodeSelector = map[string]string{"no": "node"}
	}
	out, err := c.client.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
