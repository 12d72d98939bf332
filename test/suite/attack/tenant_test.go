package attack

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// greedy is a Deployment whose pods request nearly nothing and want a node each.
const greedy = `apiVersion: v1
kind: Namespace
metadata: {name: greedy}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: tiny, namespace: greedy}
spec:
  replicas: 12
  selector: {matchLabels: {app: tiny}}
  template:
    metadata: {labels: {app: tiny}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: tiny}}}
      containers:
      - name: main
        image: example.com/tiny
        resources: {requests: {cpu: 1m, memory: 1Mi}}
`

// TestTinyPodsWithANodeEach: a tenant whose namespace is capped at 0.20 $/h creates
// pods that request a millicore and want a node each. Nodes are launched up to the cap,
// and the other pods wait.
func TestTinyPodsWithANodeEach(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	const limit = 0.20
	install(t, "greedy-cap", "hooks: [ceiling]\n", map[string]string{
		"p.rego": fmt.Sprintf("package spokeshave.ceiling\n\ncap[\"namespace/greedy\"] := {\"hourly_usd\": %.2f}\n", limit),
	})
	status(t, "greedy-cap", "Active")
	if err := stack.Apply(t.Context(), []byte(greedy)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := stack.Scale(ctx, "greedy", "tiny", 0); err != nil {
			t.Error(err)
		}
		if err := stack.Client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "greedy"}}); err != nil {
			t.Error(err)
		}
	})
	runs := func(ctx context.Context) (nodes int, usd float64, err error) {
		fleet, err := stack.Fleet(ctx)
		for i := range fleet {
			if !fleet[i].Deleting {
				nodes, usd = nodes+1, usd+fleet[i].Price
			}
		}
		return nodes, usd, err
	}
	err := stack.Until(t.Context(), "a tiny pod to run", 2*time.Minute, func(ctx context.Context) (string, bool) {
		pods, err := stack.Pods(ctx, "greedy", map[string]string{"app": "tiny"})
		running := 0
		for i := range pods {
			if pods[i].Status.Phase == corev1.PodRunning {
				running++
			}
		}
		return fmt.Sprint(running, err), running > 0
	})
	if err != nil {
		t.Fatal(err)
	}
	err = stack.Holds(t.Context(), "the cap", 20*time.Second, func(ctx context.Context) (string, bool) {
		nodes, usd, err := runs(ctx)
		return fmt.Sprintf("%d nodes for %.4f $/h, %v", nodes, usd, err), err == nil && usd <= limit && nodes < 12
	})
	if err != nil {
		t.Fatal(err)
	}
}
