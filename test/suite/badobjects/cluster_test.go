// Package badobjects gives the decision loop objects that cannot be used, code that
// panics or hangs, and an API server that refuses: each costs itself, and all others are
// served. The API server is real; there is no cloud, no kubelet and no scheduler.
package badobjects

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/reconcile/decision"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/eventually"
	"spokeshave.dev/test/kit/instancetype"
)

const (
	large = "m5.2xlarge"
	small = "m5.large"
)

// bench is an API server with the decision loop beside it, and nothing else.
type bench struct {
	client   client.Client // uncached
	loop     *decision.Loop
	view     *cluster.Cluster
	registry *prometheus.Registry
	journal  *journal.Journal
	failures *journal.Failures
	events   *events.FakeRecorder
	clock    *testclock.FakeClock
	policies []policy.Policy
	link     *link
}

// Policies implements decision.Policies.
func (b *bench) Policies() []policy.Policy { return b.policies }

// Contents implements decision.Policies.
func (*bench) Contents() []policy.Contents { return nil }

// Missing implements decision.Policies.
func (*bench) Missing() []string { return nil }

// Suspended implements decision.Policies.
func (*bench) Suspended() []policy.Suspension { return nil }

// shifted is real time and some more: waits last as long as they do, and tests step over
// pauses.
type shifted struct {
	clock.RealClock

	by *testclock.FakeClock
}

func (c shifted) Now() time.Time {
	return time.Now().Add(c.by.Since(time.Unix(0, 0)))
}
func (c shifted) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func newBench(t *testing.T, policies ...policy.Policy) *bench {
	t.Helper()
	server := apiserver.Start(t)
	b := &bench{
		client: server.Client(t), registry: prometheus.NewRegistry(), journal: journal.New(50, 32<<20), failures: &journal.Failures{Namespace: "spokeshave"},
		events: events.NewFakeRecorder(1000), clock: testclock.NewFakeClock(time.Unix(0, 0)), policies: policies, link: &link{},
	}
	b.create(t, `{"kind": "EC2NodeClass", "metadata": {"name": "default"}, "spec": {"role": "nodes", "amiSelectorTerms": [{"alias": "al2023@latest"}],
		"subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}]}}`)
	class := &awsv1.EC2NodeClass{}
	if err := b.client.Get(t.Context(), client.ObjectKey{Name: "default"}, class); err != nil {
		t.Fatal(err)
	}
	class.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Ready", LastTransitionTime: metav1.Now()}}
	if err := b.client.Status().Update(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	b.pool(t, "general", 10)
	server.Config.Wrap(b.link.wrap)
	mgr := server.Manager(t, b.link.options)
	now := shifted{by: b.clock}
	var err error
	b.view, err = cluster.New(t.Context(), cluster.Config{
		Name: "test", Cache: mgr.GetCache(), Live: mgr.GetAPIReader(), Clock: now,
		Catalog: func(context.Context, string) (model.Catalog, error) {
			return instancetype.Catalog(
				instancetype.New(small, 2000, 8, 29, instancetype.OnDemand("zone-a", 100_000)),
				instancetype.New(large, 8000, 32, 58, instancetype.OnDemand("zone-a", 400_000))), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	shared, err := metric.NewReconcilers(b.registry)
	if err != nil {
		t.Fatal(err)
	}
	b.loop = decision.New(decision.Config{
		Cluster: b.view, Policies: b, Journal: b.journal, Failures: b.failures, Metrics: metric.NewDecisions(b.registry, shared), Clock: now,
		Actuator:   &actuate.Actuator{Client: mgr.GetClient(), Reporter: &actuate.Reporter{Client: mgr.GetClient(), Events: b.events, Unmerged: b.events}},
		CountSpend: func(context.Context, *model.Snapshot) error { return nil },
		Await:      func(context.Context) error { return nil },
		Idle:       10 * time.Millisecond, Max: 50 * time.Millisecond, Every: 100 * time.Millisecond,
	})
	apiserver.Run(t, mgr)
	return b
}

// create creates the object of a manifest; the kind says of which type it is.
func (b *bench) create(t *testing.T, text string) {
	t.Helper()
	o, err := object(text)
	if err == nil {
		err = b.client.Create(t.Context(), o)
	}
	if err != nil {
		t.Fatalf("create %.80s: %v", text, err)
	}
}

func object(text string) (client.Object, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal([]byte(text), &kind); err != nil {
		return nil, err
	}
	o := map[string]client.Object{
		"EC2NodeClass": &awsv1.EC2NodeClass{}, "NodePool": &karpv1.NodePool{}, "NodeClaim": &karpv1.NodeClaim{}, "Pod": &corev1.Pod{},
		"Node": &corev1.Node{}, "PersistentVolume": &corev1.PersistentVolume{}, "PersistentVolumeClaim": &corev1.PersistentVolumeClaim{},
	}[kind.Kind]
	return o, json.Unmarshal([]byte(text), o)
}

// pool creates a NodePool, with more JSON in its spec.
func (b *bench) pool(t *testing.T, name string, weight int, more ...string) {
	t.Helper()
	b.create(t, fmt.Sprintf(`{"kind": "NodePool", "metadata": {"name": %q}, "spec": {"weight": %d,
		"template": {"spec": {"expireAfter": "Never", "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []}},
		"disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s", "budgets": [{"nodes": "100%%"}]}%s}}`, name, weight, strings.Join(more, "")))
}

// pod creates a pod that the scheduler could not place. more is JSON in its spec.
func (b *bench) pod(t *testing.T, name, cpu string, more ...string) {
	t.Helper()
	b.create(t, fmt.Sprintf(`{"kind": "Pod", "metadata": {"name": %q, "namespace": "default", "labels": {"app": %q}}, "spec": {
		"containers": [{"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": %q}}}]%s}}`, name, name, cpu, strings.Join(more, "")))
	b.unschedulable(t, name)
}

func (b *bench) unschedulable(t *testing.T, name string) {
	t.Helper()
	pod := &corev1.Pod{}
	if err := b.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, pod); err != nil {
		t.Fatal(err)
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	if err := b.client.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// round makes one round of the loop, after the watches have seen so many pods that wait.
func (b *bench) round(t *testing.T, pods int) time.Duration {
	t.Helper()
	b.seen(t, pods)
	next, err := b.loop.Round(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// seen waits until the watches have seen so many pods that wait.
func (b *bench) seen(t *testing.T, pods int) {
	t.Helper()
	eventually.Ok(t, "the pods are seen", func() (string, bool) {
		n := 0
		for _, pod := range b.view.Pods() {
			if len(pod.Status.Conditions) > 0 {
				n++
			}
		}
		return fmt.Sprint(n, " pods"), n == pods
	})
}

// planned returns which pods there are claims for, and from which NodePool: name of the
// pod to name of the pool.
func (b *bench) planned(t *testing.T) map[string]string {
	t.Helper()
	var claims karpv1.NodeClaimList
	if err := b.client.List(t.Context(), &claims); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i := range claims.Items {
		c := &claims.Items[i]
		var pods []string
		if err := json.Unmarshal([]byte(c.Annotations[karpv1.AnnotationPlannedPods]), &pods); err != nil {
			continue // of none of our decisions
		}
		for _, p := range pods {
			out[strings.TrimPrefix(p, "default/")] = c.Labels[karpv1.LabelNodePool]
		}
	}
	return out
}

// waits returns why the latest decision lets a pod wait, "" when it does not.
func (b *bench) waits(pod string) string {
	entries := b.journal.Entries()
	if len(entries) == 0 {
		return ""
	}
	for _, u := range entries[len(entries)-1].Unplaced {
		if u.Pod == "default/"+pod {
			return string(u.Reasons[0].Code) + ": " + actuate.JoinReasons(u.Reasons)
		}
	}
	return ""
}

// told returns the events so far.
func (b *bench) told() []string {
	var out []string
	for {
		select {
		case e := <-b.events.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}

// count returns the value of a counter, of the series whose labels have the values.
func (b *bench) count(t *testing.T, name string, values ...string) float64 {
	t.Helper()
	all, err := b.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range all {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			if family.GetName() == name && !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(labels, v) }) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// refuse makes the API server refuse what the expression is false for.
func (b *bench) refuse(t *testing.T, resource, operation, expression string, probe client.Object) {
	t.Helper()
	group := karpv1.GroupVersion.Group
	if resource == "nodes" {
		group = ""
	}
	fail, all := admissionv1.Fail, admissionv1.AllScopes
	name := "refuse-" + resource
	p := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.OperationType(operation)},
				Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}, Scope: &all},
			}}}},
			Validations: []admissionv1.Validation{{Expression: expression, Message: "the platform team says no"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
	for _, o := range []client.Object{p, binding} {
		if err := b.client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.client.Delete(context.WithoutCancel(t.Context()), o) })
	}
	eventually.Ok(t, "the API server refuses", func() (string, bool) {
		var err error
		if o := probe.DeepCopyObject().(client.Object); operation == "CREATE" { //nolint:forcetypeassert // a copy of one
			err = b.client.Create(t.Context(), o, client.DryRunAll)
		} else {
			err = b.client.Patch(t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels": {"probe": "x"}}}`)), client.DryRunAll)
		}
		return fmt.Sprint(err), err != nil && strings.Contains(err.Error(), "the platform team says no")
	})
}

// claim is a NodeClaim of a NodePool, for instance types.
func claim(name, pool string, kinds ...string) *karpv1.NodeClaim {
	return &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{karpv1.LabelNodePool: pool}},
		Spec: karpv1.NodeClaimSpec{
			Requirements: []karpv1.Requirement{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: kinds}},
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
		},
	}
}

// status patches the status of an object.
func (b *bench) status(t *testing.T, o client.Object, name, patch string) {
	t.Helper()
	o.SetName(name)
	if err := b.client.Status().Patch(t.Context(), o, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// deleted reports whether a claim is gone or being deleted.
func (b *bench) deleted(t *testing.T, c *karpv1.NodeClaim) bool {
	t.Helper()
	err := b.client.Get(t.Context(), client.ObjectKeyFromObject(c), c)
	return apierrors.IsNotFound(err) || err == nil && !c.DeletionTimestamp.IsZero()
}

// wrote is the change of an application that marked a claim.
func wrote(marked ...string) cluster.Change { return cluster.Change{Marked: marked} }
