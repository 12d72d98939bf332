// Package attack tries to do harm to the running product: the chart on a real control
// plane, the controller with the chart's own permissions. Each test is an attack: who
// makes it, what is done, what is expected, and what must not change.
//
// All tests share one cluster and one controller, and run one after the other, since
// they measure it.
package attack

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/sharedstack"
)

// stack is what all tests share.
var stack *harness.Stack

func TestMain(m *testing.M) {
	os.Exit(sharedstack.Main(m, harness.Options{
		BootDelay: 300 * time.Millisecond,
	}, func(ctx context.Context, s *harness.Stack) (int, error) {
		stack = s
		if err := stack.Apply(ctx, []byte(world)); err != nil {
			return 1, err
		}
		return m.Run(), nil
	}))
}

// world is a NodePool and a workload without pods.
const world = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNodeRole-spokeshave
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: spokeshave}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: spokeshave}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 5s, budgets: [{nodes: "100%"}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: work, namespace: default}
spec:
  replicas: 0
  selector: {matchLabels: {app: work}}
  template:
    metadata: {labels: {app: work}}
    spec:
      containers:
      - name: main
        image: example.com/work
        resources: {requests: {cpu: 1500m, memory: 1Gi}}
`

// metric returns the sum of a metric's series whose labels contain a text.
func metric(ctx context.Context, name, labels string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, stack.MetricsURL()+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	sum := 0.0
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		series, value, ok := strings.Cut(lines.Text(), " ")
		rest, found := strings.CutPrefix(series, name)
		if !ok || !found || rest != "" && rest[0] != '{' || !strings.Contains(rest, labels) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, lines.Err()
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

// work scales the workload and waits until so many of its pods run, and with none until
// there is no node for them.
func work(t *testing.T, pods int) {
	t.Helper()
	if err := stack.Scale(t.Context(), "default", "work", pods); err != nil {
		t.Fatal(err)
	}
	if err := stack.Until(t.Context(), fmt.Sprintf("%d pods", pods), 3*time.Minute, stack.Running("default", map[string]string{"app": "work"}, pods)); err != nil {
		t.Fatal(err)
	}
	if pods > 0 {
		return
	}
	err := stack.Until(t.Context(), "the end of the nodes", 3*time.Minute, func(ctx context.Context) (string, bool) {
		fleet, err := stack.Fleet(ctx)
		return fmt.Sprintf("%d machines, %v", len(fleet), err), err == nil && len(fleet) == 0
	})
	if err != nil {
		t.Fatal(err)
	}
}
