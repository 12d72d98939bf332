package controlplane

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"spokeshave.dev/test/kit/eventually"
)

// TestStages covers the nodes and pods that do not simply run and stop.
func TestStages(t *testing.T) {
	c := ForTest(t, true)
	client := kubernetes.NewForConfigOrDie(c.Config())
	t.Run("Pods", func(t *testing.T) { testPods(t, client) })
	t.Run("PreStop", func(t *testing.T) { testPreStop(t, client) })
	t.Run("BrokenNode", func(t *testing.T) { testBrokenNode(t, client) })
	t.Run("NodeWithoutCapacity", func(t *testing.T) { testNodeWithoutCapacity(t, client) })
}

func testPods(t *testing.T, client kubernetes.Interface) {
	ctx := t.Context()
	createNode(t, client)
	untaint(t, client)
	phase := func(name string) corev1.PodPhase {
		p, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return "gone"
		}
		if err != nil {
			t.Fatal(err)
		}
		return p.Status.Phase
	}
	grace := int64(3)
	stubborn := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "stubborn", Annotations: map[string]string{StopAnnotation: "deadline"}},
		Spec:       corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	job := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "work", OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "batch/v1", Kind: "Job", Name: "absent", UID: "00000000-0000-0000-0000-000000000000",
		}}},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	for _, p := range []*corev1.Pod{stubborn, job} {
		if _, err := client.CoreV1().Pods(namespace).Create(ctx, p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually.True(t, "the stubborn pod runs", func() bool { return phase("stubborn") == corev1.PodRunning })
	// The garbage collector may take the pod, whose Job does not exist, right after it has succeeded.
	eventually.True(t, "the job's pod succeeds", func() bool {
		p := phase("work")
		return p == corev1.PodSucceeded || p == "gone"
	})
	deleted := time.Now()
	if err := evict(ctx, client, "stubborn"); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the stubborn pod is gone", func() bool { return phase("stubborn") == "gone" })
	// Deletion timestamps have whole seconds, so the deadline may be up to one early.
	if lived := time.Since(deleted); lived < 2*time.Second {
		t.Errorf("the stubborn pod stopped after %v, before its grace period of 3s had run out", lived)
	}
}

// testPreStop: a pod that sleeps before it stops is there that long, and no longer than
// the grace period it is given. Both sleep far less than the time that is allowed, so
// that a machine's pace decides nothing.
func testPreStop(t *testing.T, client kubernetes.Interface) {
	ctx, pods := t.Context(), client.CoreV1().Pods(namespace)
	const short, long = 5, 3600
	for name, tc := range map[string]struct {
		reason string
		sleep  int64
		grace  int64 // of the deletion
	}{
		"sleeps":  {reason: "the sleep is over long before the grace period", sleep: short, grace: long},
		"cut-off": {reason: "the grace period ends the sleep", sleep: long, grace: short},
	} {
		t.Run(name, func(t *testing.T) {
			period := int64(long)
			hook := &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: tc.sleep}}}
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &period, Containers: []corev1.Container{
					{Name: "quick", Image: "i"}, {Name: "slow", Image: "i", Lifecycle: hook},
				}},
			}
			if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			eventually.True(t, "the pod to run", func() bool {
				p, err := pods.Get(ctx, name, metav1.GetOptions{})
				return err == nil && p.Status.Phase == corev1.PodRunning
			})
			deleted := time.Now()
			if err := pods.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &tc.grace}); err != nil {
				t.Fatal(err)
			}
			if p, err := pods.Get(ctx, name, metav1.GetOptions{}); err != nil || p.DeletionTimestamp == nil {
				t.Errorf("%s: right after its deletion the pod is not terminating: %v", tc.reason, err)
			}
			eventually.True(t, "the pod to be gone", func() bool {
				_, err := pods.Get(ctx, name, metav1.GetOptions{})
				return apierrors.IsNotFound(err)
			})
			// Deletion timestamps have whole seconds.
			if lived := time.Since(deleted); lived < (short-1)*time.Second {
				t.Errorf("%s: the pod was gone after %v, want %d s", tc.reason, lived, short)
			}
		})
	}
}

// testBrokenNode plays a kubelet that reports trouble; without the annotation
// KWOK would report the node healthy again at once.
func testBrokenNode(t *testing.T, client kubernetes.Interface) {
	ctx := t.Context()
	mark := []byte(`{"metadata":{"annotations":{"` + BrokenAnnotation + `":""}}}`)
	if _, err := client.CoreV1().Nodes().Patch(ctx, nodeName, types.MergePatchType, mark, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	sick := []byte(`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"KubeletNotReady"}]}}`)
	if _, err := client.CoreV1().Nodes().PatchStatus(ctx, nodeName, sick); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the node controller has tainted the node", func() bool {
		node, err := client.CoreV1().Nodes().Get(ctx, nodeName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, taint := range node.Spec.Taints {
			if taint.Key == corev1.TaintNodeNotReady {
				return true
			}
		}
		return false
	})
	if nodeReady(ctx, t, client) {
		t.Error("KWOK overwrote the condition of a node that is marked broken")
	}
	unmark := []byte(`{"metadata":{"annotations":{"` + BrokenAnnotation + `":null}}}`)
	if _, err := client.CoreV1().Nodes().Patch(ctx, nodeName, types.MergePatchType, unmark, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the node has recovered", func() bool { return nodeReady(ctx, t, client) })
}

// testNodeWithoutCapacity creates a node whose status arrives in a second
// write, as some joiners do: no capacity may be made up meanwhile.
func testNodeWithoutCapacity(t *testing.T, client kubernetes.Interface) {
	ctx, nodes := t.Context(), client.CoreV1().Nodes()
	_, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "late", Labels: map[string]string{NodeLabel: NodeLabelValue},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Once KWOK holds the node's lease, it has had its say about the node.
	eventually.True(t, "KWOK manages the node", func() bool {
		_, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, "late", metav1.GetOptions{})
		return err == nil
	})
	node, err := nodes.Get(ctx, "late", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(node.Status.Capacity) != 0 || len(node.Status.Allocatable) != 0 {
		t.Errorf("capacity %v was made up for a node that reported none", node.Status.Capacity)
	}
	late := []byte(`{"status":{"capacity":{"cpu":"2","pods":"10"},"allocatable":{"cpu":"1900m","pods":"10"}}}`)
	if _, err := nodes.PatchStatus(ctx, "late", late); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the node is Ready", func() bool {
		node, err = nodes.Get(ctx, "late", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return len(node.Status.Conditions) > 0
	})
	if got := node.Status.Allocatable.Cpu().String(); got != "1900m" {
		t.Errorf("allocatable cpu = %s, want 1900m", got)
	}
}
