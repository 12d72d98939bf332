package lower

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func testCatalog() model.Catalog {
	size := func(name string, cpu int64, price model.Price) model.InstanceType {
		t := instancetype.Of(name, model.Resources{"cpu": cpu, "memory": cpu * 4 * mi, "pods": 10}, instancetype.OnDemand("za", price), instancetype.Spot("za", price/3))
		t.Allocatable = model.Resources{"cpu": cpu - 100, "memory": cpu * 3 * mi, "pods": 10}
		t.Labels["karpenter.k8s.aws/instance-cpu"] = fmt.Sprint(cpu / 1000)
		return t
	}
	return instancetype.Catalog(size("big", 8000, 800_000), size("small", 2000, 200_000))
}

const poolYAML = `
metadata: {name: general}
spec:
  disruption: {budgets: [{nodes: "50%"}]}
  template:
    spec:
      requirements: []
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
`

func claim(t testing.TB, name, more string) *karpv1.NodeClaim {
	t.Helper()
	c := parse[karpv1.NodeClaim](t, more)
	c.Name = name
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	c.Labels[karpv1.LabelNodePool] = "general"
	c.Spec.NodeClassRef.Name = "default"
	return c
}

const launched = `
metadata:
  annotations: {spokeshave.dev/reserved-usd: "0.9"}
  labels: {node.kubernetes.io/instance-type: small, topology.kubernetes.io/zone: za, karpenter.sh/capacity-type: on-demand}
spec: {}
status:
  conditions: [{type: Launched, status: "True", lastTransitionTime: "2026-03-04T10:00:00Z"}%s]
`

// TestNodes follows a NodeClaim from its creation to its end.
func TestNodes(t *testing.T) {
	offers := `[{"instanceType":"big","zone":"za","capacityType":"spot","price":1,"effectivePrice":1},{"instanceType":"small","zone":"za","capacityType":"on-demand","price":1,"effectivePrice":1}]`
	node := parse[corev1.Node](t, `
metadata: {name: ip-1, creationTimestamp: "2026-03-04T10:01:00Z", labels: {node.kubernetes.io/instance-type: small, topology.kubernetes.io/zone: za, karpenter.sh/capacity-type: on-demand, karpenter.sh/nodepool: general, own: label}}
spec: {taints: [{key: karpenter.sh/unregistered, effect: NoExecute}, {key: spokeshave.dev/reserved, value: uid, effect: NoSchedule}]}
status: {allocatable: {cpu: "1.8", memory: 1Gi, pods: "9"}, capacity: {cpu: "2", memory: 7Gi, pods: "9"}}
`)
	small := testCatalog().Types[1]
	cases := map[string]struct {
		reason string
		claim  *karpv1.NodeClaim
		node   *corev1.Node
		want   model.Node
		usage  model.Resources
	}{
		"not launched": {
			"only what the options share is known, and the dearest price is held",
			claim(t, "c", `{metadata: {annotations: {spokeshave.dev/reserved-usd: "0.9", spokeshave.dev/launch: '`+offers+`'}}, spec: {taints: [{key: t, effect: NoSchedule}]}}`), nil,
			model.Node{
				Name: "c", Claim: "c", State: model.InFlight, Zone: "za", Reserved: 900_000,
				Labels:      map[string]string{"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "karpenter.sh/nodepool": "general"},
				Taints:      []model.Taint{{Key: "t", Effect: model.NoSchedule}},
				Allocatable: model.Resources{"cpu": 1900, "memory": 6000 * mi, "pods": 10},
			},
			model.Resources{"cpu": 8000, "memory": 32000 * mi, "pods": 10, "nodes": 1},
		},
		"launch recorded, condition to come": {
			"the worst case is held until the condition is there, and what was launched is not what it might have been",
			claim(t, "c", `{metadata: {annotations: {spokeshave.dev/reserved-usd: "0.9", spokeshave.dev/launch: '`+offers+`'}, labels: {node.kubernetes.io/instance-type: small, topology.kubernetes.io/zone: za, karpenter.sh/capacity-type: on-demand}}}`), nil,
			model.Node{
				Name: "c", Claim: "c", State: model.InFlight, InstanceType: "small", Zone: "za", CapacityType: model.OnDemand,
				Labels: map[string]string{
					"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "small",
					"topology.kubernetes.io/zone": "za", "karpenter.sh/capacity-type": "on-demand",
				},
				Allocatable: small.Allocatable, Price: 200_000, Reserved: 900_000,
			},
			model.Resources{"cpu": 2000, "memory": 8000 * mi, "pods": 10, "nodes": 1},
		},
		"launched": {
			"type, zone and price are known, nothing is held any more",
			claim(t, "c", fmt.Sprintf(launched, "")), nil,
			model.Node{
				Name: "c", Claim: "c", State: model.InFlight, InstanceType: "small", Zone: "za", CapacityType: model.OnDemand,
				Labels: map[string]string{
					"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "small",
					"topology.kubernetes.io/zone": "za", "karpenter.sh/capacity-type": "on-demand",
				},
				Allocatable: small.Allocatable, Price: 200_000, LaunchedAt: noon.Add(-2 * time.Hour),
			},
			model.Resources{"cpu": 2000, "memory": 8000 * mi, "pods": 10, "nodes": 1},
		},
		"joined": {
			"the node is there, its own figures are not trusted yet",
			claim(t, "c", fmt.Sprintf(launched, "")+"  allocatable: {cpu: 1900m, gpu: 1}\n  nodeName: ip-1\n"), node,
			model.Node{
				Name: "ip-1", Claim: "c", State: model.Registered, InstanceType: "small", Zone: "za", CapacityType: model.OnDemand,
				Labels: map[string]string{
					"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "small", "own": "label",
					"topology.kubernetes.io/zone": "za", "karpenter.sh/capacity-type": "on-demand",
				},
				Taints:      []model.Taint{{Key: "karpenter.sh/unregistered", Effect: model.NoExecute}},
				Allocatable: model.Resources{"cpu": 1900, "gpu": 1}, Price: 200_000, LaunchedAt: noon.Add(-2 * time.Hour),
			},
			model.Resources{"cpu": 2000, "memory": 7168 * mi, "pods": 9, "nodes": 1},
		},
		"initialized": {
			"the node speaks for itself",
			claim(t, "c", fmt.Sprintf(launched, `, {type: Registered, status: "True"}, {type: Initialized, status: "True"}`)+"  nodeName: ip-1\n  lastPodEventTime: 2026-03-04T11:00:00Z\n"), node,
			model.Node{
				Name: "ip-1", Claim: "c", State: model.Initialized, InstanceType: "small", Zone: "za", CapacityType: model.OnDemand,
				Labels: node.Labels, Taints: []model.Taint{{Key: "karpenter.sh/unregistered", Effect: model.NoExecute}},
				Allocatable: model.Resources{"cpu": 1800, "memory": 1024 * mi, "pods": 9}, Price: 200_000,
				LaunchedAt: noon.Add(-2 * time.Hour), LastPodEvent: noon.Add(-time.Hour),
			},
			model.Resources{"cpu": 2000, "memory": 7168 * mi, "pods": 9, "nodes": 1},
		},
		"deleting": {
			"a claim on its way out", claim(t, "c", `{metadata: {deletionTimestamp: "2026-03-04T11:00:00Z"}, spec: {}}`), nil,
			model.Node{
				Name: "c", Claim: "c", State: model.Deleting, Labels: map[string]string{"karpenter.sh/nodepool": "general"},
				Allocatable: model.Resources{},
			},
			model.Resources{}, // a pool at its limit can replace it
		},
		"foreign": {
			"a claim that another controller made holds its own pods",
			claim(t, "c", `{spec: {resources: {requests: {cpu: "1"}}, requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}`), nil,
			model.Node{
				Name: "c", Claim: "c", State: model.InFlight, CapacityType: model.Spot,
				Labels:      map[string]string{"karpenter.sh/nodepool": "general", "karpenter.sh/capacity-type": "spot"},
				Allocatable: model.Resources{"cpu": 1000},
			},
			model.Resources{"nodes": 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Inputs{
				Time: noon, NodePools: []*karpv1.NodePool{parse[karpv1.NodePool](t, poolYAML)},
				NodeClaims: []*karpv1.NodeClaim{tc.claim}, Catalogs: map[string]model.Catalog{"default": testCatalog()},
			}
			if tc.node != nil {
				in.Nodes = []*corev1.Node{tc.node}
			}
			s, warnings := Build(in)
			if len(warnings) > 0 || len(s.Nodes) != 1 {
				t.Fatalf("%d nodes, warnings %v", len(s.Nodes), warnings)
			}
			if diff := cmp.Diff(tc.want, s.Nodes[0]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.usage, s.Pools[0].Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnmanagedNode(t *testing.T) {
	s, _ := Build(Inputs{Nodes: []*corev1.Node{parse[corev1.Node](t, `{metadata: {name: own, labels: {karpenter.sh/nodepool: general}}, spec: {unschedulable: true}, status: {allocatable: {cpu: "1"}}}`)}})
	want := []model.Node{{
		Name: "own", Pool: -1, State: model.Unmanaged, Labels: map[string]string{"karpenter.sh/nodepool": "general"},
		Taints: []model.Taint{{Key: "node.kubernetes.io/unschedulable", Effect: model.NoSchedule}}, Allocatable: model.Resources{"cpu": 1000},
	}}
	if diff := cmp.Diff(want, s.Nodes); diff != "" {
		t.Error(diff)
	}
}
