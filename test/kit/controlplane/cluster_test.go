package controlplane

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"spokeshave.dev/test/kit/eventually"
)

const (
	unregistered = "karpenter.sh/unregistered"
	nodeName     = "joined"
	namespace    = metav1.NamespaceDefault
)

// TestNodeAndPods goes through what the product does to a cluster: a node
// joins, pods land on it, evictions are refused and granted, everything goes
// away.
func TestNodeAndPods(t *testing.T) {
	c := ForTest(t, true)
	client := kubernetes.NewForConfigOrDie(c.Config())
	ctx := t.Context()
	pods := func() []corev1.Pod {
		list, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return list.Items
	}

	createNode(t, client)
	eventually.True(t, "the node is Ready", func() bool {
		return nodeReady(ctx, t, client)
	})
	node, err := client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := node.Status.Allocatable.Cpu().String(); got != "3920m" {
		t.Errorf("allocatable cpu = %s, want the 3920m that the node was created with", got)
	}
	if got := node.Status.Capacity.Memory().String(); got != "16Gi" {
		t.Errorf("capacity memory = %s, want the 16Gi that the node was created with", got)
	}

	createDeployment(t, client)
	eventually.True(t, "three pods exist", func() bool { return len(pods()) == 3 })
	for _, p := range pods() {
		if p.Spec.NodeName != "" {
			t.Errorf("pod %s is bound to a node that is not registered", p.Name)
		}
	}
	untaint(t, client)
	eventually.True(t, "three pods run", func() bool { return running(pods()) == 3 })

	createPDB(t, client)
	eventually.True(t, "the PDB has seen the pods", func() bool {
		pdb, err := client.PolicyV1().PodDisruptionBudgets(namespace).Get(ctx, "app", metav1.GetOptions{})
		return err == nil && pdb.Status.CurrentHealthy == 3
	})
	victim := pods()[0].Name
	if err := evict(ctx, client, victim); !apierrors.IsTooManyRequests(err) {
		t.Errorf("evict under a PDB that forbids it = %v, want 429 TooManyRequests", err)
	}
	if err := client.PolicyV1().PodDisruptionBudgets(namespace).Delete(ctx, "app", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the eviction is granted", func() bool { return evict(ctx, client, victim) == nil })
	eventually.True(t, "the evicted pod is replaced", func() bool {
		for _, p := range pods() {
			if p.Name == victim {
				return false
			}
		}
		return running(pods()) == 3
	})

	scale := []byte(`{"spec":{"replicas":0}}`)
	if _, err := client.AppsV1().Deployments(namespace).Patch(ctx, "app", types.MergePatchType, scale, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "every pod is gone", func() bool { return len(pods()) == 0 })

	pids := c.PIDs()
	if len(pids) != 5 {
		t.Errorf("programs = %v, want five", pids)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	for name, pid := range pids {
		if id, err := identify(pid); err == nil {
			t.Errorf("%s (pid %d) still runs as %s", name, pid, id)
		}
	}
}

// createNode registers a node as the machine that boots would.
func createNode(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	_, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{NodeLabel: NodeLabelValue, corev1.LabelHostname: nodeName}},
		Spec: corev1.NodeSpec{
			ProviderID: "aws:///us-west-2a/i-0123456789abcdef0",
			Taints:     []corev1.Taint{{Key: unregistered, Effect: corev1.TaintEffectNoExecute}},
		},
		Status: corev1.NodeStatus{
			Capacity:    resources("4", "16Gi"),
			Allocatable: resources("3920m", "15Gi"),
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func resources(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
		corev1.ResourcePods: resource.MustParse("58"),
	}
}

func nodeReady(ctx context.Context, t *testing.T, client kubernetes.Interface) bool {
	t.Helper()
	node, err := client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// untaint lifts the unregistered taint and leaves those of others alone.
func untaint(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	eventually.True(t, "the taint is lifted", func() bool {
		node, err := client.CoreV1().Nodes().Get(t.Context(), nodeName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var keep []corev1.Taint
		for _, taint := range node.Spec.Taints {
			if taint.Key != unregistered {
				keep = append(keep, taint)
			}
		}
		node.Spec.Taints = keep
		_, err = client.CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{})
		return err == nil // a conflict is tried again
	})
}

func createDeployment(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	labels, replicas := map[string]string{"app": "app"}, int32(3)
	_, err := client.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "app"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "main", Image: "none", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("900m")}},
				}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func createPDB(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	least := intstr.FromInt32(3)
	_, err := client.PolicyV1().PodDisruptionBudgets(namespace).Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "app"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "app"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func evict(ctx context.Context, client kubernetes.Interface, pod string) error {
	return client.CoreV1().Pods(namespace).EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: namespace}})
}

func running(pods []corev1.Pod) int {
	n := 0
	for _, p := range pods {
		if p.Status.Phase == corev1.PodRunning && p.Spec.NodeName == nodeName && p.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}
