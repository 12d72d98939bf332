package failclosed

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/reconcile/decision"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/eventually"
	"spokeshave.dev/test/kit/instancetype"
)

// site is an API server with a cluster as in the other rows: two pods wait, each for a
// node of its own, and a node is empty. The decision loop is made by the tests.
type site struct {
	server  *apiserver.Server
	client  client.Client
	manager ctrl.Manager
	view    *cluster.Cluster
}

const (
	nodePool = `{"metadata": {"name": "general"}, "spec": {
		"template": {"spec": {"expireAfter": "Never", "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []}},
		"disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s", "budgets": [{"nodes": "100%"}]}}}`
	nodeClass = `{"metadata": {"name": "default"}, "spec": {"role": "nodes", "amiSelectorTerms": [{"alias": "al2023@latest"}],
		"subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}]}}`
	labels = `"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "m5.large", "topology.kubernetes.io/zone": "zone-a", "karpenter.sh/capacity-type": "on-demand"`
	node   = `{"metadata": {"name": "node-a", "labels": {` + labels + `, "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}}, "spec": {"providerID": "aws:///zone-a/a"}}`
	claim  = `{"metadata": {"name": "a", "labels": {` + labels + `}}, "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
		"requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.large"]}]}}`
	condition = `{"type": %q, "status": %q, "reason": %q, "message": "", "lastTransitionTime": "2020-01-01T00:00:00Z"}`
)

// newSite returns one whose manager does not run yet.
func newSite(t *testing.T) *site {
	t.Helper()
	server := apiserver.Start(t)
	s := &site{server: server, client: server.Client(t), manager: server.Manager(t)}
	is := func(kinds ...string) string {
		var out []string
		for _, kind := range kinds {
			out = append(out, fmt.Sprintf(condition, kind, "True", "Test"))
		}
		return strings.Join(out, ",")
	}
	s.create(t, &awsv1.EC2NodeClass{}, nodeClass, `{"status": {"conditions": [`+is("Ready")+`]}}`)
	s.create(t, &karpv1.NodePool{}, nodePool, "")
	s.create(t, &corev1.Node{}, node, `{"status": {"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "29"}, "conditions": [{"type": "Ready", "status": "True"}]}}`)
	s.create(t, &karpv1.NodeClaim{}, claim, `{"status": {"providerID": "aws:///zone-a/a", "nodeName": "node-a", "conditions": [`+is("Launched", "Registered", "Initialized", "Consolidatable")+`]}}`)
	s.pod(t, "one")
	s.pod(t, "two")
	var err error
	s.view, err = cluster.New(t.Context(), cluster.Config{
		Name: "test", Cache: s.manager.GetCache(), Live: s.manager.GetAPIReader(), Clock: clock.RealClock{},
		Catalog: func(context.Context, string) (model.Catalog, error) {
			return instancetype.Catalog(
				instancetype.New("m5.large", 2000, 8, 29, instancetype.OnDemand("zone-a", 100_000)),
				instancetype.New("m5.2xlarge", 8000, 32, 58, instancetype.OnDemand("zone-a", 400_000))), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// create creates an object, and patches its status unless that is empty.
func (s *site) create(t *testing.T, o client.Object, text, status string) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), o); err != nil {
		t.Fatal(err)
	}
	if err := s.client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if status == "" {
		return
	}
	if err := s.client.Status().Patch(t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(status))); err != nil {
		t.Fatal(err)
	}
}

// pod creates a pod that waits for a node of its own.
func (s *site) pod(t *testing.T, name string) {
	t.Helper()
	s.create(t, &corev1.Pod{}, fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "default"}, "spec": {"containers": [
		{"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": "6"}}}]}}`, name),
		`{"status": {"conditions": [`+fmt.Sprintf(condition, "PodScheduled", "False", corev1.PodReasonUnschedulable)+`]}}`)
}

// seen waits until the view has so many pods that wait.
func (s *site) seen(t *testing.T, pods int) {
	t.Helper()
	eventually.Ok(t, "the pods to be seen", func() (string, bool) {
		n := 0
		for _, pod := range s.view.Pods() {
			if len(pod.Status.Conditions) > 0 {
				n++
			}
		}
		return fmt.Sprint(n, " pods"), n == pods
	})
}

// namespace creates a namespace.
func (s *site) namespace(t *testing.T, name string) {
	t.Helper()
	if err := s.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
}

// config returns what a loop needs. It has no gates, and applies what it decides.
func (s *site) config(t *testing.T, l *load.Loader) decision.Config {
	t.Helper()
	registry := prometheus.NewRegistry()
	shared, err := metric.NewReconcilers(registry)
	if err != nil {
		t.Fatal(err)
	}
	said := events.NewFakeRecorder(1000)
	return decision.Config{
		Cluster: s.view, Policies: l, Journal: journal.New(50, 32<<20), Failures: &journal.Failures{Namespace: own},
		Metrics: metric.NewDecisions(registry, shared), Clock: clock.RealClock{},
		Actuator:   &actuate.Actuator{Client: s.client, Reporter: &actuate.Reporter{Client: s.client, Events: said, Unmerged: said}},
		CountSpend: func(context.Context, *model.Snapshot) error { return nil },
		Await:      func(context.Context) error { return nil },
		Idle:       10 * time.Millisecond, Max: 50 * time.Millisecond, Every: 100 * time.Millisecond,
	}
}
