// Package billed tests that ceilings count what AWS bills: the price of the
// instance less the configured discount, its volumes and its public address. The
// cluster is on a real API server, watched and lowered as the controller does it,
// prices come from an EC2 endpoint.
//
// Not here: whether caps hold whatever happens (test/suite/ceilings).
package billed

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/aws/market"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/ec2"
	"spokeshave.dev/test/kit/ec2provider"
	"spokeshave.dev/test/kit/eventually"
)

// What one node costs, in micro-dollars an hour, counted by hand.
const (
	list   model.Price = 100_800 // m7i.large on demand
	billed model.Price = 72_576  // 28 % less
	// A month of gp3: 200 GiB at 0.09 $, 3,000 IOPS beyond those that come with it at
	// 0.006, 375 MiB/s at 0.05. Of io2: 500 GiB at 0.13, 10,000 IOPS at 0.07. Together
	// 54.75 and 765 $, of which an hour is the 730th part.
	volumes model.Price = 1_122_945
	address model.Price = 5_000
	node                = billed + volumes + address
)

const objects = `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNodeRole-demo
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  associatePublicIPAddress: true
  blockDeviceMappings:
  - {deviceName: /dev/xvda, rootVolume: true, ebs: {volumeType: gp3, volumeSize: 200Gi, iops: 6000, throughput: 500}}
  - {deviceName: /dev/xvdb, ebs: {volumeType: io2, volumeSize: 500Gi, iops: 10000}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [m7i.large]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`

// nearlyFree says that every offering is nearly free, which orders offerings and pays
// no bill, and caps the cluster.
type nearlyFree struct{ cap model.Price }

func (nearlyFree) Info() policy.Info {
	return policy.Info{Name: "nearlyFree", Hooks: []policy.Hook{policy.HookRank, policy.HookCeiling}}
}

func (nearlyFree) Rank(_ context.Context, in *policy.RankInput) ([]policy.RankAnswer, error) {
	out := make([]policy.RankAnswer, len(in.Rows))
	for i := range out {
		out[i].Score = 0.001
	}
	return out, nil
}

func (nearlyFree) Consolidate(context.Context, *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	return nil, policy.ErrNoOpinion
}

func (p nearlyFree) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	usd := p.cap.USD()
	return policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {HourlyUSD: &usd}}}, nil
}

// TestCeilingsCountTheBill: five pods want a node each. A cap of precisely three
// nodes' bills lets three be launched, a millionth of a dollar less lets two. What
// is in flight and what runs is counted by the same sum.
func TestCeilingsCountTheBill(t *testing.T) {
	w := start(t)
	s := w.snapshot(t)
	if got := s.NodeCost(0); got != volumes+address {
		t.Errorf("a node costs %s $/h besides its instance, want %s", got, volumes+address)
	}
	for i := range s.Catalogs[0].Types {
		for _, o := range s.Catalogs[0].Types[i].Offerings {
			if s.Catalogs[0].Types[i].Name == "m7i.large" && o.CapacityType == model.OnDemand && (o.List != list || o.Price != billed) {
				t.Errorf("list price %s, billed %s, want %s and %s", o.List, o.Price, list, billed)
			}
		}
	}
	w.wantNodes(t, 3*node-1, 2)
	w.wantNodes(t, 3*node, 3)
	w.wantNodes(t, 5*node, 5)

	three := w.decide(t, 3*node)
	for _, n := range three.Plan.Nodes {
		if o := n.Options[0]; o.Price != billed || o.Effective != 0.001 {
			t.Errorf("price %s, effective %v: want what is billed, and the policy's word beside", o.Price, o.Effective)
		}
	}
	w.launch(t, three)
	for _, name := range w.claims(t) {
		if got, want := w.claim(t, name).Annotations[karpv1.AnnotationReservedUSD], fmt.Sprintf("%.6f", node.USD()); got != want {
			t.Errorf("claim %s reserves %s $/h, want %s", name, got, want)
		}
	}
	w.wantLeft(t, "in flight", 3*node, 0)
	w.wantLeft(t, "in flight", 4*node, node)

	for i, name := range w.claims(t) {
		w.run(t, name, i)
	}
	w.wantLeft(t, "running", 3*node, 0)
	w.wantLeft(t, "running", 4*node, node)
	w.wantNodes(t, 4*node-1, 0)
	w.wantNodes(t, 4*node, 1)
}

// billedCluster is an API server, the part of the controller that launches, and an EC2
// whose prices are known.
type billedCluster struct {
	client client.Client
	view   *cluster.Cluster
	events *actuate.Actuator
}

func start(t *testing.T) *billedCluster {
	t.Helper()
	mgr := apiserver.Start(t).Manager(t)
	cloud := onEC2(t, mgr)
	recorder := mgr.GetEventRecorder("test")
	w := &billedCluster{client: mgr.GetClient(), events: &actuate.Actuator{
		Client: mgr.GetClient(), Reporter: &actuate.Reporter{Client: mgr.GetClient(), Events: recorder, Unmerged: recorder},
	}}
	var err error
	w.view, err = cluster.New(t.Context(), cluster.Config{
		Name: "demo", Cache: mgr.GetCache(), Live: mgr.GetAPIReader(), Clock: clock.RealClock{}, Catalog: cloud.Catalog, Volumes: cloud.VolumePrices,
	})
	if err != nil {
		t.Fatal(err)
	}
	apiserver.Run(t, mgr)
	for text := range strings.SplitSeq(objects, "---\n") {
		var o client.Object = &awsv1.EC2NodeClass{}
		if strings.Contains(text, "kind: NodePool") {
			o = &karpv1.NodePool{}
		}
		if err := yaml.UnmarshalStrict([]byte(text), o); err != nil {
			t.Fatal(err)
		}
		if err := w.client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if class, ok := o.(*awsv1.EC2NodeClass); ok {
			resolver := nodeclass.Resolver{Cloud: cloud.NodeClasses(), Clock: time.Now}
			if class.Status, err = resolver.Resolve(t.Context(), class); err != nil {
				t.Fatal(err)
			}
			if err := w.client.Status().Update(t.Context(), class); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 5 {
		w.pod(t, fmt.Sprintf("pod-%d", i))
	}
	eventually.True(t, "five pods that wait for a NodePool that is ready", func() bool {
		s := w.snapshot(t)
		return len(s.Pods) == 5 && len(s.Catalogs) == 1 && len(s.Catalogs[0].Types) > 0
	})
	return w
}

// onEC2 is the provider, with a discount, on an endpoint with prices of its own.
func onEC2(t *testing.T, mgr ctrl.Manager) *aws.Provider {
	t.Helper()
	at := ec2.Start(t, []string{"m7i.large"})
	err := at.Server.SetVolumePrices([]sim.VolumePrice{{Type: "gp3", GiB: 0.09, IOPS: 0.006, Throughput: 0.05}, {Type: "io2", GiB: 0.13, IOPS: 0.07}})
	if err == nil {
		err = at.Server.SetPrices([]sim.Price{{Type: "m7i.large", CapacityType: model.OnDemand, USD: list.USD()}})
	}
	if err != nil {
		t.Fatal(err)
	}
	discounts, err := market.ParseDiscounts([]byte("discounts: [{family: m7i, capacityType: on-demand, share: 0.28}]"))
	if err != nil {
		t.Fatal(err)
	}
	p := ec2provider.New(t, at.URL, func(cfg *aws.Config) {
		cfg.Discounts = discounts
		cfg.Classes = func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error) {
			class := &awsv1.EC2NodeClass{}
			return class, mgr.GetClient().Get(ctx, client.ObjectKey{Name: name}, class)
		}
	})
	if err := p.Sources().Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// pod makes one that fills most of an m7i.large and that nothing could schedule.
func (w *billedCluster) pod(t *testing.T, name string) {
	t.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:1", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: quantity("1500m")},
		}}}},
	}
	if err := w.client.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	base := p.DeepCopy()
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	if err := w.client.Status().Patch(t.Context(), p, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
}
