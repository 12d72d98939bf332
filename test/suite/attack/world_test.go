package attack

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/source"
)

// world is a NodePool for whoever attacks, one with a taint for the pods of namespace shop,
// which are others', a workload without pods, and the administrator's caps.
const world = harness.DefaultClass + `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 2s, budgets: [{nodes: "100%"}]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: shop}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      taints: [{key: team, value: shop, effect: NoSchedule}]
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 2s, budgets: [{nodes: "100%"}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: team-a}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: till, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: till}}
  template:
    metadata: {labels: {app: till}}
    spec:
      nodeSelector: {karpenter.sh/nodepool: shop}
      tolerations: [{key: team, value: shop, effect: NoSchedule}]
      containers:
      - name: main
        image: example.com/till
        resources: {requests: {cpu: 500m, memory: 1Gi}}
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
---
apiVersion: v1
kind: ConfigMap
metadata: {name: guard, namespace: spokeshave, labels: {spokeshave.dev/policy: "true"}}
data:
  policy.yaml: |
    apiVersion: policy.spokeshave.dev/v1alpha1
    hooks: [ceiling]
  p.rego: |
    package spokeshave.ceiling

    cap["namespace/shop"] := {"hourly_usd": 1}
    cap["namespace/greedy"] := {"hourly_usd": 0.2}
    cap["cluster"] := {"hourly_usd": 20}
`

// greedyCap is the cap on namespace greedy, in dollars an hour.
const greedyCap = 0.20

// begin makes the world and waits until the pods of namespace shop run.
func begin(ctx context.Context) error {
	if err := stack.Apply(ctx, []byte(world)); err != nil {
		return err
	}
	root, err := source.Root()
	if err != nil {
		return err
	}
	if _, err := stack.Helm(ctx, "upgrade", "spokeshave", filepath.Join(root, "charts", "spokeshave"), "--namespace", harness.Namespace, "--reuse-values",
		"--set", "policies.pluginNamespaces={team-a}", "--set", "policies.pluginScopes.team-a.nodePools={team-a-*}"); err != nil {
		return err
	}
	if err := stack.StartController(ctx); err != nil {
		return err
	}
	if err := stack.Until(ctx, "the pods of others", 3*time.Minute, stack.Running("shop", map[string]string{"app": "till"}, 2)); err != nil {
		return err
	}
	if err := stack.Until(ctx, "the NodeClaims of their nodes", 3*time.Minute, stack.Consistent); err != nil {
		return err
	}
	if prices, err = offerings(ctx); err != nil {
		return err
	}
	return stack.Until(ctx, "the caps", time.Minute, func(ctx context.Context) (string, bool) {
		left, err := metric(ctx, "spokeshave_headroom_usd", `scope="namespace/shop"`)
		billed, failed := bill(ctx)
		return fmt.Sprint(left, err, billed, failed), err == nil && failed == nil && left > 0 && left < 1
	})
}

// series is a line of the metrics.
type series struct {
	name, labels string
	value        float64
}

// scrape reads the metrics at the loopback address.
func scrape(ctx context.Context, each func(series)) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, stack.MetricsURL()+"/metrics", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ' ')
		if at < 0 || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		s := series{}
		s.name, s.labels, _ = strings.Cut(lines.Text()[:at], "{")
		if s.value, err = strconv.ParseFloat(lines.Text()[at+1:], 64); err != nil {
			return fmt.Errorf("%s: %w", lines.Text(), err)
		}
		each(s)
	}
	return lines.Err()
}

// metric returns the sum of a metric's series whose labels contain a text.
func metric(ctx context.Context, name, labels string) (float64, error) {
	sum := 0.0
	err := scrape(ctx, func(s series) {
		if s.name == name && strings.Contains(s.labels, labels) {
			sum += s.value
		}
	})
	return sum, err
}

var label = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)

// offerings returns the prices of everything on sale.
func offerings(ctx context.Context) (map[string]float64, error) {
	out := map[string]float64{}
	err := scrape(ctx, func(s series) {
		if s.name != "karpenter_cloudprovider_instance_type_offering_price_estimate" {
			return
		}
		is := map[string]string{}
		for _, m := range label.FindAllStringSubmatch(s.labels, -1) {
			is[m[1]] = m[2]
		}
		out[is["instance_type"]+" "+is["zone"]+" "+is["capacity_type"]] = s.value
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("the metrics have no prices")
	}
	return out, err
}
