// Package announced gives the decision loop workloads that create their pods slowly, on a
// real API server. The tests play kube-controller-manager, the scheduler and the cloud.
package announced

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// bench is an API server with the decision loop beside it, and nothing else.
type bench struct {
	client  client.Client // uncached
	loop    *decision.Loop
	view    *cluster.Cluster
	journal *journal.Journal
	events  *events.FakeRecorder
	clock   *testclock.FakeClock
	// policies are in force.
	policies []policy.Policy
}

// Policies implements decision.Policies.
func (b *bench) Policies() []policy.Policy { return b.policies }

// Contents implements decision.Policies.
func (*bench) Contents() []policy.Contents { return nil }

// Missing implements decision.Policies.
func (*bench) Missing() []string { return nil }

// Suspended implements decision.Policies.
func (*bench) Suspended() []policy.Suspension { return nil }

// hourly is a ceiling of so many dollars an hour on the cluster.
type hourly float64

func (hourly) Info() policy.Info {
	return policy.Info{Name: "budget", Hooks: []policy.Hook{policy.HookCeiling}}
}

func (hourly) Rank(context.Context, *policy.RankInput) ([]policy.RankAnswer, error) {
	return nil, policy.ErrNoOpinion
}

func (hourly) Consolidate(context.Context, *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	return nil, policy.ErrNoOpinion
}

func (h hourly) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	usd := float64(h)
	return policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {HourlyUSD: &usd}}}, nil
}

// still is a clock that a test sets; waits last as long as they do.
type still struct {
	clock.RealClock

	at *testclock.FakeClock
}

func (c still) Now() time.Time                  { return c.at.Now() }
func (c still) Since(t time.Time) time.Duration { return c.at.Since(t) }

// start starts the bench. A pod of 1 CPU fits 8 times on the only instance type.
func start(t *testing.T, announced bool) *bench {
	t.Helper()
	return startIdle(t, announced, 10*time.Millisecond)
}

// startIdle starts the bench with the time after which no further pod is expected.
func startIdle(t *testing.T, announced bool, idle time.Duration) *bench {
	t.Helper()
	server := apiserver.Start(t)
	b := &bench{
		client: server.Client(t), journal: journal.New(50, 32<<20), events: events.NewFakeRecorder(1000), clock: testclock.NewFakeClock(time.Now()),
	}
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: awsv1.EC2NodeClassSpec{
		Role: "nodes", AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
		SubnetSelectorTerms: []awsv1.SubnetSelectorTerm{{ID: "subnet-1"}}, SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{ID: "sg-1"}},
	}}
	b.create(t, class)
	class.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Ready", LastTransitionTime: metav1.Now()}}
	if err := b.client.Status().Update(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	pool := &karpv1.NodePool{}
	err := json.Unmarshal([]byte(`{"metadata": {"name": "general"}, "spec": {
		"template": {"spec": {"expireAfter": "Never", "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []}},
		"disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "15s", "budgets": [{"nodes": "100%"}]}}}`), pool)
	if err != nil {
		t.Fatal(err)
	}
	b.create(t, pool)
	mgr := server.Manager(t)
	now := still{at: b.clock}
	b.view, err = cluster.New(t.Context(), cluster.Config{
		Name: "test", Cache: mgr.GetCache(), Live: mgr.GetAPIReader(), Clock: now, Announced: announced,
		Catalog: func(context.Context, string) (model.Catalog, error) {
			return instancetype.Catalog(instancetype.New("m5.2xlarge", 8000, 32, 58, instancetype.OnDemand("zone-a", 400_000))), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	shared, err := metric.NewReconcilers(registry)
	if err != nil {
		t.Fatal(err)
	}
	b.loop = decision.New(decision.Config{
		Cluster: b.view, Policies: b, Journal: b.journal, Failures: &journal.Failures{Namespace: "spokeshave"}, Metrics: metric.NewDecisions(registry, shared), Clock: now,
		Actuator:   &actuate.Actuator{Client: mgr.GetClient(), Reporter: &actuate.Reporter{Client: mgr.GetClient(), Events: b.events, Unmerged: b.events}},
		CountSpend: func(context.Context, *model.Snapshot) error { return nil },
		Await:      func(context.Context) error { return nil },
		Idle:       idle, Max: 50 * time.Millisecond, Every: 100 * time.Millisecond,
	})
	apiserver.Run(t, mgr)
	return b
}

func (b *bench) create(t *testing.T, o client.Object) {
	t.Helper()
	if err := b.client.Create(t.Context(), o); err != nil {
		t.Fatalf("create %s: %v", o.GetName(), err)
	}
}

func (b *bench) writeStatus(t *testing.T, o client.Object) {
	t.Helper()
	if err := b.client.Status().Update(t.Context(), o); err != nil {
		t.Fatalf("write status of %s: %v", o.GetName(), err)
	}
}

// template is the pod template of every workload here.
func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{
			Name: "main", Image: "example.com/web:1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}},
		}}},
	}
}

// pod creates a pod of the owner and marks it unschedulable, as the scheduler does. The
// clock then shows when it was created.
func (b *bench) pod(t *testing.T, kind, version string, owner client.Object, name string, change ...func(*corev1.PodSpec)) {
	t.Helper()
	template, controls := template(), true
	for _, c := range change {
		c(&template.Spec)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, Labels: template.Labels,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: &controls}},
	}, Spec: template.Spec}
	b.create(t, pod)
	b.clock.SetTime(pod.CreationTimestamp.Time)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	b.writeStatus(t, pod)
}

// marked is how many pods the watches have seen that are marked unschedulable.
func (b *bench) marked() int {
	n := 0
	for _, pod := range b.view.Pods() {
		if len(pod.Status.Conditions) > 0 {
			n++
		}
	}
	return n
}

// awaitMarked waits until the watches have seen so many such pods.
func (b *bench) awaitMarked(t *testing.T, want int) {
	t.Helper()
	eventually.Ok(t, "the pods are seen", func() (string, bool) { n := b.marked(); return fmt.Sprint(n, " pods"), n == want })
}

// round makes one round of the loop, after the watches have seen so many pods that wait.
func (b *bench) round(t *testing.T, pods int) {
	t.Helper()
	b.awaitMarked(t, pods)
	if _, err := b.loop.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// planned is what the claims of the cluster say.
type planned struct {
	Claims, Pods, Announced int
}

func (b *bench) planned(t *testing.T) planned {
	t.Helper()
	claims := &karpv1.NodeClaimList{}
	if err := b.client.List(t.Context(), claims); err != nil {
		t.Fatal(err)
	}
	var out planned
	for i := range claims.Items {
		c := &claims.Items[i]
		if !c.DeletionTimestamp.IsZero() {
			continue
		}
		out.Claims++
		var pods []string
		if err := json.Unmarshal([]byte(c.Annotations[karpv1.AnnotationPlannedPods]), &pods); err != nil {
			t.Fatal(err)
		}
		out.Pods += len(pods)
		if text := c.Annotations[karpv1.AnnotationAnnouncedPods]; text != "" {
			counts := map[string]int{}
			if err := json.Unmarshal([]byte(text), &counts); err != nil {
				t.Fatal(err)
			}
			for _, n := range counts {
				out.Announced += n
			}
		}
	}
	return out
}
