package e2e

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// scale sets a Deployment's replicas.
func (l *tenant) scale(name string, replicas int) {
	l.Helper()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: l.name, Name: name}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":`+string(rune('0'+replicas))+`}}`))
	if err := stack.Client.Patch(l.Context(), d, patch); err != nil {
		l.Fatal(err)
	}
}

// ofType checks that the tenant has one machine, of the type.
func (l *tenant) ofType(want string) func(context.Context) (string, bool) {
	return func(ctx context.Context) (string, bool) {
		if state, ok := l.machines(1)(ctx); !ok {
			return state, false
		}
		nodes := &corev1.NodeList{}
		if err := stack.Client.List(ctx, nodes, client.MatchingLabels{"tenant": l.name}); err != nil {
			return err.Error(), false
		}
		for i := range nodes.Items {
			if got := nodes.Items[i].Labels[corev1.LabelInstanceTypeStable]; got != want {
				return "the node is a " + got, false
			}
		}
		return "", len(nodes.Items) == 1
	}
}

// TestReplace: a node that became too large makes way for a smaller one, which
// is ready before the pod has to leave.
func TestReplace(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "replace", plan{types: "m5.large,m5.2xlarge", capacity: "on-demand", after: "5s", policy: "WhenEmptyOrUnderutilized"})
	l.deploy("app", 7, "900m")
	l.run(7)
	l.until("a large machine", l.ofType("m5.2xlarge"))
	old := l.only()
	l.scale("app", 1)
	l.until("a small machine in its stead", l.ofType("m5.large"))
	l.run(1)
	l.until("the old machine to go", gone(old.Claim))
	for _, said := range []string{"decided", "disruption begins"} {
		l.logged(`"msg":"`+said+`"`, `"logger":"decision"`)
	}
	for _, said := range []string{"instance is launched", "node is registered", "node is being removed"} {
		l.logged(`"msg":"`+said+`"`, `"claim":"`+old.Claim+`"`)
	}
}

// logged checks that the controller's log has a line with all of the parts.
func (l *tenant) logged(parts ...string) {
	l.Helper()
	if lines, err := stack.Logged(parts...); err != nil || len(lines) == 0 {
		l.Errorf("the log has no line with %q (%v)", parts, err)
	}
}

// TestDrift: a change of the NodePool's template replaces its nodes.
func TestDrift(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "drift", plan{types: "m5a.large", capacity: "on-demand"})
	l.deploy("app", 1, "500m")
	l.run(1)
	l.until("one machine", l.machines(1))
	old := l.only()
	pool := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: l.name}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"template":{"metadata":{"labels":{"revision":"two"}}}}}`))
	if err := stack.Client.Patch(t.Context(), pool, patch); err != nil {
		t.Fatal(err)
	}
	l.until("the old machine to go", gone(old.Claim))
	l.run(1)
	l.until("one machine again", l.machines(1))
	node := &corev1.Node{}
	if err := stack.Client.Get(t.Context(), client.ObjectKey{Name: l.only().Node}, node); err != nil {
		t.Fatal(err)
	}
	if node.Labels["revision"] != "two" {
		t.Errorf("the new node's labels: %v", node.Labels)
	}
}
