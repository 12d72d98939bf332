package attack

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/test/kit/user"
)

// pod is what a tenant writes on its pods.
type pod = corev1.PodTemplateSpec

// apart makes each pod want a node of its own.
func apart(p *pod) {
	p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "greedy"}},
	}}}}
}

// both are two changes of a pod.
func both(a, b func(*pod)) func(*pod) {
	return func(p *pod) {
		a(p)
		b(p)
	}
}

// requests sets what the pods request, and as much as their limit.
func requests(list corev1.ResourceList) func(*pod) {
	return func(p *pod) {
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: list, Limits: list}
	}
}

// greed creates pods of a millicore in namespace greedy, which the world caps, and removes
// them when the attack ends. Before, it waits for the end of the nodes of earlier attacks.
func greed(t *testing.T, pods int, trick func(*pod)) {
	t.Helper()
	labels := map[string]string{"app": "greedy"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "greedy", Name: "greedy"},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(pods)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pod{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{TerminationGracePeriodSeconds: new(int64(1)), Containers: []corev1.Container{{
				Name: "main", Image: "example.com/greedy", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1m")}},
			}}},
		}},
	}
	trick(&d.Spec.Template)
	empty(t)
	tenancy(t)
	user.Create(t, stack.Client, d)
}

// tenancy creates namespace greedy. When the attack ends, it goes with its pods.
func tenancy(t *testing.T) {
	t.Helper()
	const name = "greedy"
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := stack.Client.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := stack.Client.Delete(ctx, ns); err != nil {
			t.Error(err)
		}
		if err := stack.Until(ctx, "the end of namespace "+name, 3*time.Minute, func(ctx context.Context) (string, bool) {
			// Pods that no kubelet ends are ended here.
			_ = stack.Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(name), client.GracePeriodSeconds(0))
			err := stack.Client.Get(ctx, types.NamespacedName{Name: name}, &corev1.Namespace{})
			return "it is there", apierrors.IsNotFound(err)
		}); err != nil {
			t.Error(err)
		}
	})
}

// overrun creates pods of which each opens a node, and wants some to run, some to wait,
// and the cap, in dollars an hour, to hold all the time.
func overrun(t *testing.T, pods int, limit float64, trick func(*pod)) {
	t.Helper()
	greed(t, pods, trick)
	capHolds(t, limit)
}

// capHolds is what overrun wants.
func capHolds(t *testing.T, limit float64) {
	t.Helper()
	until(t, "a greedy pod to run", func(ctx context.Context) (string, bool) {
		state, within := capped(ctx, limit)
		if !within {
			t.Fatalf("%s, the cap is %.2f", state, limit)
		}
		pods, err := stack.Pods(ctx, "greedy", nil)
		running := 0
		for i := range pods {
			if pods[i].Status.Phase == corev1.PodRunning {
				running++
			}
		}
		_, unknown := general(ctx)
		return fmt.Sprint(state, running, err, unknown), running > 0 && unknown == nil
	})
	waits(t)
	holds(t, "the cap", func(ctx context.Context) (string, bool) { return capped(ctx, limit) })
	if _, err := general(t.Context()); err != nil {
		t.Errorf("what the nodes cost is not known: %v", err)
	}
}

// capped reports whether the nodes of NodePool general cost no more than the cap. What cannot be
// read is within it: the API server may be away for a moment.
func capped(ctx context.Context, limit float64) (string, bool) {
	fleet, err := general(ctx)
	usd := 0.0
	for i := range fleet {
		if !fleet[i].Deleting {
			usd += fleet[i].Price
		}
	}
	return fmt.Sprintf("%d nodes for %.4f $/h, %v", len(fleet), usd, err), err != nil || usd <= limit
}

// waits wants a pod to wait for a node.
func waits(t *testing.T) {
	t.Helper()
	until(t, "a greedy pod to wait", func(ctx context.Context) (string, bool) {
		n, err := metric(ctx, "karpenter_scheduler_unschedulable_pods_count", "")
		return fmt.Sprint(n, err), n > 0
	})
}
