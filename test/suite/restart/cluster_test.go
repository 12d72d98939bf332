// Package restart kills the controller at every step of a disruption: two nodes
// make way for a smaller one, on a real API server and a cloud in memory. Each
// time another controller takes over, and in the end nothing is lost, nothing
// is there twice and nothing is left half done.
package restart

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/instancetype"
)

// bareCluster is an API server and a cloud in memory, without a controller.
type bareCluster struct {
	server *apiserver.Server
	client client.Client // uncached
	cloud  *sim.Provider
	clock  *sim.Clock
	pods   int
}

const (
	large = "m5.2xlarge"
	small = "m5.large"
)

func catalog() model.Catalog {
	c := instancetype.Catalog()
	for name, cpus := range map[string]int64{large: 8, small: 2} {
		c.Types = append(c.Types, instancetype.New(name, cpus*1000, cpus*4, 29, instancetype.OnDemand("zone-a", model.Price(cpus*50_000))))
	}
	return c
}

func newCluster(t *testing.T) *bareCluster {
	t.Helper()
	w := &bareCluster{server: apiserver.Start(t), clock: sim.NewClock(time.Now())}
	w.client = w.server.Client(t)
	var err error
	w.cloud, err = sim.New(sim.Config{
		Catalogs: map[string]model.Catalog{"default": catalog()}, Clock: w.clock, BootDelay: time.Second, StopDelay: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.settle(t)
	return w
}

// settle makes the NodePool and its class.
func (w *bareCluster) settle(t *testing.T) {
	t.Helper()
	class := &awsv1.EC2NodeClass{}
	pool := &karpv1.NodePool{}
	for text, o := range map[string]client.Object{
		`{"metadata": {"name": "default"}, "spec": {"role": "nodes", "amiSelectorTerms": [{"alias": "al2023@latest"}],
			"subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}]}}`: class,
		`{"metadata": {"name": "general"}, "spec": {
			"template": {"spec": {"expireAfter": "Never",
				"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []}},
			"disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s", "budgets": [{"nodes": "100%"}]}}}`: pool,
	} {
		if err := json.Unmarshal([]byte(text), o); err != nil {
			t.Fatal(err)
		}
		if err := w.client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	class.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Ready", LastTransitionTime: metav1.Now()}}
	if err := w.client.Status().Update(t.Context(), class); err != nil {
		t.Fatal(err)
	}
}

// claim creates a NodeClaim as a decision would.
func (w *bareCluster) claim(t *testing.T, name string) {
	t.Helper()
	launch, err := json.Marshal([]model.Option{{InstanceType: large, Zone: "zone-a", CapacityType: model.OnDemand, Price: 400_000, Effective: 0.4}})
	if err != nil {
		t.Fatal(err)
	}
	c := &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{karpv1.LabelNodePool: "general"},
			Annotations: map[string]string{karpv1.AnnotationLaunch: string(launch), karpv1.AnnotationReservedUSD: "0.4"},
		},
		Spec: karpv1.NodeClaimSpec{
			Requirements: []karpv1.Requirement{{Key: corev1.LabelOSStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}}},
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
		},
	}
	if err := w.client.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// machines play the kubelets: the node of an instance appears.
func (w *bareCluster) machines(ctx context.Context) error {
	var claims karpv1.NodeClaimList
	var nodes corev1.NodeList
	if err := w.client.List(ctx, &claims); err != nil {
		return fmt.Errorf("list claims: %w", err)
	}
	if err := w.client.List(ctx, &nodes); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	up := map[string]bool{}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		up[n.Spec.ProviderID] = true
		if kept := slices.DeleteFunc(slices.Clone(n.Spec.Taints), notReady); len(kept) < len(n.Spec.Taints) {
			n.Spec.Taints = kept
			if err := w.client.Update(ctx, n); err != nil {
				return fmt.Errorf("report node %s ready: %w", n.Name, err)
			}
		}
	}
	for i := range claims.Items {
		c := &claims.Items[i]
		if id := c.Status.ProviderID; id != "" && !up[id] && c.DeletionTimestamp.IsZero() {
			if err := w.join(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// notReady is the taint that every node is admitted with, and that the control
// plane's controllers take off.
func notReady(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady }

func (w *bareCluster) join(ctx context.Context, c *karpv1.NodeClaim) error {
	cpus := "8"
	if c.Labels[corev1.LabelInstanceTypeStable] == small {
		cpus = "2"
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-" + c.Name},
		Spec:       corev1.NodeSpec{ProviderID: c.Status.ProviderID, Taints: []corev1.Taint{karpv1.UnregisteredTaint()}},
	}
	if err := w.client.Create(ctx, node); err != nil {
		return fmt.Errorf("join node %s: %w", node.Name, err)
	}
	base := node.DeepCopy()
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpus), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("29"),
	}
	node.Status.Capacity = node.Status.Allocatable
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := w.client.Status().Patch(ctx, node, client.MergeFrom(base)); err != nil {
		return fmt.Errorf("report node %s: %w", node.Name, err)
	}
	return nil
}
