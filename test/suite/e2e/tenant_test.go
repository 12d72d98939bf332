package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

// tenant is a test's own corner of the cluster: a namespace and a NodePool, both
// named after it.
type tenant struct {
	*testing.T

	name string
}

// plan says what a tenant's NodePool may launch.
type plan struct {
	types    string // comma-separated
	capacity string
	// class is the node class, default unless set.
	class string
	// after is consolidateAfter, Never unless set.
	after string
	// policy is consolidationPolicy, WhenEmpty unless set.
	policy string
	// replicas makes the pool static unless 0.
	replicas int
}

// newTenant makes a corner and clears it when the test ends: whatever is left of
// the pool's machines then is a failure.
func newTenant(t *testing.T, name string, p plan) *tenant {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	l := &tenant{t, name}
	static := ""
	if p.replicas > 0 {
		static = fmt.Sprintf("replicas: %d", p.replicas)
	}
	if p.class == "" {
		p.class = "default"
	}
	if p.after == "" {
		p.after = "Never"
	}
	if p.policy == "" {
		p.policy = "WhenEmpty"
	}
	l.apply(fmt.Sprintf(`apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %[1]s}
spec:
  %[7]s
  template:
    metadata: {labels: {tenant: %[1]s}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: %[4]s}
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [%[2]s]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [%[3]s]}
  disruption:
    consolidationPolicy: %[6]s
    consolidateAfter: %[5]s
    budgets: [{nodes: "100%%"}]
`, name, p.types, p.capacity, p.class, p.after, p.policy, static))
	t.Cleanup(l.clear)
	return l
}

// clear deletes everything of the tenant and waits until its machines are gone.
func (l *tenant) clear() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.Context()), 90*time.Second)
	defer cancel()
	pool := &karpv1.NodePool{}
	pool.Name = l.name
	ns := &corev1.Namespace{}
	ns.Name = l.name
	objects := []client.Object{ns, pool}
	fleet, err := l.fleet(ctx)
	if err != nil {
		l.Error(err)
	}
	// Kubernetes would delete the claims after the pool, at its own pace.
	for i := range fleet {
		objects = append(objects, &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fleet[i].Claim}})
	}
	for _, o := range objects {
		if err := stack.Client.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
			l.Error(err)
		}
	}
	err = stack.Until(ctx, "the end of the machines of "+l.name, 60*time.Second, func(ctx context.Context) (string, bool) {
		state, machines := l.count(ctx)
		return state, machines == 0
	})
	if err != nil {
		l.Error(err)
	}
}

// count counts instances and claims of the tenant together.
func (l *tenant) count(ctx context.Context) (string, int) {
	instances, err := l.instances(ctx)
	if err != nil {
		return err.Error(), -1
	}
	fleet, err := l.fleet(ctx)
	if err != nil {
		return err.Error(), -1
	}
	return fmt.Sprintf("%d instances, %d NodeClaims", len(instances), len(fleet)), len(instances) + len(fleet)
}

func (l *tenant) instances(ctx context.Context) ([]harness.Instance, error) {
	all, err := stack.Instances(ctx)
	return slices.DeleteFunc(all, func(i harness.Instance) bool { return i.Pool != l.name }), err
}

func (l *tenant) fleet(ctx context.Context) ([]harness.Machine, error) {
	all, err := stack.Fleet(ctx)
	return slices.DeleteFunc(all, func(m harness.Machine) bool { return m.Pool != l.name }), err
}

// machines checks that the tenant has so many machines, each of them an
// initialized node with its claim and instance.
func (l *tenant) machines(want int) harness.Check {
	return func(ctx context.Context) (string, bool) {
		fleet, err := l.fleet(ctx)
		if err != nil {
			return err.Error(), false
		}
		instances, err := l.instances(ctx)
		if err != nil {
			return err.Error(), false
		}
		up := 0
		for i := range fleet {
			if fleet[i].Initialized && !fleet[i].Deleting {
				up++
			}
		}
		return fmt.Sprintf("%d instances, %d NodeClaims, %d nodes up, want %d", len(instances), len(fleet), up, want),
			len(instances) == want && len(fleet) == want && up == want
	}
}

// allUp checks that the tenant's machines are all there.
func (l *tenant) allUp(ctx context.Context) (string, bool) {
	fleet, err := l.fleet(ctx)
	if err != nil {
		return err.Error(), false
	}
	return l.machines(max(1, len(fleet)))(ctx)
}

// only is the tenant's one machine.
func (l *tenant) only() harness.Machine {
	l.Helper()
	fleet, err := l.fleet(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	if len(fleet) != 1 {
		l.Fatalf("%d machines, want 1: %s", len(fleet), harness.JSON(fleet))
	}
	return fleet[0]
}

func (l *tenant) apply(manifests string) {
	l.Helper()
	if err := stack.Apply(l.Context(), []byte(manifests)); err != nil {
		l.Fatal(err)
	}
}

// deploy makes a Deployment for the tenant's nodes.
func (l *tenant) deploy(name string, replicas int, cpu string) {
	l.Helper()
	l.apply(fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}}
    spec:
      terminationGracePeriodSeconds: 0
      nodeSelector: {tenant: %[1]s}
      containers:
      - name: main
        image: example.com/app:1
        resources: {requests: {cpu: %[4]s, memory: 256Mi}}
`, l.name, name, replicas, cpu))
}

// until waits for a check. Pods may have waited for a minute for new workloads of other tests
// (--batch-rollout-duration) before anything is decided about them.
func (l *tenant) until(what string, check harness.Check) {
	l.Helper()
	if err := stack.Until(l.Context(), what, 2*time.Minute, check); err != nil {
		l.Fatal(err)
	}
}

// holds makes sure that a check stays satisfied.
func (l *tenant) holds(what string, during time.Duration, check harness.Check) {
	l.Helper()
	if err := stack.Holds(l.Context(), what, during, check); err != nil {
		l.Fatal(err)
	}
}

// run waits until the Deployment's pods run.
func (l *tenant) run(replicas int) {
	l.Helper()
	l.until("app to run", stack.Running(l.name, map[string]string{"app": "app"}, replicas))
}

// told waits for an event with the reason on an object of the kind whose name
// or namespace is part of the tenant, and whose text contains every one of the
// words.
func (l *tenant) told(kind, reason string, words ...string) {
	l.Helper()
	l.until("event "+reason+" on a "+kind, func(ctx context.Context) (string, bool) {
		events, err := stack.Events(ctx, func(e *corev1.Event) bool {
			o := e.InvolvedObject
			return o.Kind == kind && e.Reason == reason && (o.Namespace == l.name || strings.HasPrefix(o.Name, l.name) || l.node(ctx, o.Name)) &&
				!slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(e.Message, w) })
		})
		if err != nil {
			return err.Error(), false
		}
		if len(events) == 0 {
			return "no such event", false
		}
		return "", true
	})
}

// node says whether a node is the tenant's.
func (l *tenant) node(ctx context.Context, name string) bool {
	node := &corev1.Node{}
	err := stack.Client.Get(ctx, types.NamespacedName{Name: name}, node)
	return err == nil && node.Labels["tenant"] == l.name
}

// gone checks that a claim does not exist.
func gone(claim string) harness.Check {
	return func(ctx context.Context) (string, bool) {
		err := stack.Client.Get(ctx, types.NamespacedName{Name: claim}, &karpv1.NodeClaim{})
		return "NodeClaim " + claim + " exists", err != nil && client.IgnoreNotFound(err) == nil
	}
}

// remove deletes an object.
func (l *tenant) remove(o client.Object) {
	l.Helper()
	if err := stack.Client.Delete(l.Context(), o); err != nil {
		l.Fatal(err)
	}
}
