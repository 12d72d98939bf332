// Package attack tries to do harm to the running product: the chart on a real control
// plane, the controller with the chart's own permissions. [TestAttacks] makes a share of the
// attacks, or all of them: who makes it, what is done, what is expected, and what must not
// change. docs/security.md names them.
//
// All attacks share one cluster and one controller, and run one after the other, since
// they measure it.
package attack

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/sharedstack"
	"spokeshave.dev/test/kit/user"
)

// stack is what all tests share.
var stack *harness.Stack

func TestMain(m *testing.M) {
	os.Exit(sharedstack.Main(m, harness.Options{
		BootDelay: 300 * time.Millisecond,
		Stopped:   true, // until the namespace of a team is there
		Values:    []string{"web.enabled=true", "web.service=true"},
	}, func(ctx context.Context, s *harness.Stack) (int, error) {
		stack = s
		if err := begin(ctx); err != nil {
			return 1, err
		}
		return m.Run(), nil
	}))
}

// resident returns the resident memory of the controller itself, in bytes.
func resident(t *testing.T) float64 {
	t.Helper()
	n, err := metric(t.Context(), "process_resident_memory_bytes", "")
	if err != nil || n == 0 {
		t.Fatalf("the controller's memory: %v, %v", n, err)
	}
	return n
}

// grew returns by how many bytes the controller has been larger than before at most, since
// settledMemory: not only by what it holds now, where the system keeps that.
func grew(t *testing.T, before float64) float64 {
	t.Helper()
	most := resident(t)
	if runtime.GOOS == "linux" {
		var err error
		if most, err = stack.PeakMemory(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("from %.1f to %.1f MB at most", before/1e6, most/1e6)
	return most - before
}

// settledMemory returns the resident memory of the controller, from which its growth counts.
func settledMemory(t *testing.T) float64 {
	t.Helper()
	if err := stack.ForgetPeak(); err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	return resident(t)
}

// work scales the workload and waits until so many of its pods run, on nodes that are
// launched for them.
func work(t *testing.T, pods int) {
	t.Helper()
	if pods > 0 {
		empty(t)
	}
	if err := stack.Scale(t.Context(), "default", "work", pods); err != nil {
		t.Fatal(err)
	}
	if err := stack.Until(t.Context(), fmt.Sprintf("%d pods", pods), 3*time.Minute, stack.Running("default", map[string]string{"app": "work"}, pods)); err != nil {
		t.Fatal(err)
	}
}

// served counts the pods of [serve].
var served int

// serve wants a pod of others to get a node. It selects another instance type each time, so
// that a node has to be launched although those of earlier pods may still be there.
func serve(t *testing.T) {
	t.Helper()
	types := []string{"m5.large", "m6i.large", "c5.large", "c6i.large", "m6a.large", "c6a.large", "r5.large", "r6i.large"}
	one := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("customer-%d", served)},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{corev1.LabelInstanceTypeStable: types[served%len(types)]}, TerminationGracePeriodSeconds: new(int64(0)),
			Containers: []corev1.Container{{Name: "main", Image: "example.com/customer", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1500m")}}}},
		},
	}
	served++
	user.Create(t, stack.Client, one)
	defer func() {
		if err := stack.Client.Delete(context.WithoutCancel(t.Context()), one); err != nil {
			t.Error(err)
		}
	}()
	until(t, "a node for a pod of others", func(ctx context.Context) (string, bool) {
		err := stack.Client.Get(ctx, client.ObjectKeyFromObject(one), one)
		return fmt.Sprint(one.Status.Phase, err), err == nil && one.Status.Phase == corev1.PodRunning
	})
}

// empty waits until NodePool general has no nodes.
func empty(t *testing.T) {
	t.Helper()
	until(t, "the end of the nodes", func(ctx context.Context) (string, bool) {
		left, err := general(ctx)
		return fmt.Sprintf("%d machines, %v", len(left), err), err == nil && len(left) == 0
	})
}

// general returns the machines of NodePool general.
func general(ctx context.Context) ([]harness.Machine, error) {
	fleet, err := stack.Fleet(ctx)
	return slices.DeleteFunc(fleet, func(m harness.Machine) bool { return m.Pool != "general" }), err
}
