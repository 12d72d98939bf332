package lower

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/model"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func testCatalog() model.Catalog {
	size := func(name string, cpu int64, price model.Price) model.InstanceType {
		capacity := model.Resources{"cpu": cpu, "memory": cpu * 4 * mi, "pods": 10}
		return model.InstanceType{
			Name: name, Arch: "amd64", OS: "linux", Capacity: capacity, Allocatable: model.Resources{"cpu": cpu - 100, "memory": cpu * 3 * mi, "pods": 10},
			Labels:    map[string]string{"kubernetes.io/arch": "amd64", "node.kubernetes.io/instance-type": name, "karpenter.k8s.aws/instance-cpu": fmt.Sprint(cpu / 1000)},
			Offerings: []model.Offering{{Zone: "za", CapacityType: model.OnDemand, Price: price, Available: true}, {Zone: "za", CapacityType: model.Spot, Price: price / 3, Available: true}},
		}
	}
	return model.Catalog{Types: []model.InstanceType{size("big", 8000, 800_000), size("small", 2000, 200_000)}}
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
metadata: {name: ip-1, creationTimestamp: "2026-03-04T10:01:00Z", labels: {node.kubernetes.io/instance-type: small, topology.kubernetes.io/zone: za, karpenter.sh/capacity-type: on-demand, own: label}}
spec: {taints: [{key: karpenter.sh/unregistered, effect: NoExecute}]}
status: {allocatable: {cpu: "1.8", memory: 1Gi, pods: "9"}, capacity: {cpu: "2", memory: 2Gi, pods: "9"}}
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
				Labels:      map[string]string{"kubernetes.io/arch": "amd64", "karpenter.sh/nodepool": "general"},
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
			model.Resources{"cpu": 2000, "memory": 2048 * mi, "pods": 9, "nodes": 1},
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
			model.Resources{"cpu": 2000, "memory": 2048 * mi, "pods": 9, "nodes": 1},
		},
		"deleting": {
			"a claim on its way out", claim(t, "c", `{metadata: {deletionTimestamp: "2026-03-04T11:00:00Z"}, spec: {}}`), nil,
			model.Node{
				Name: "c", Claim: "c", State: model.Deleting, Labels: map[string]string{"karpenter.sh/nodepool": "general"},
				Allocatable: model.Resources{},
			},
			model.Resources{"nodes": 1},
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

func TestWaiting(t *testing.T) {
	unschedulable := `status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}`
	for name, tc := range map[string]struct {
		pod          string
		fresh, tried bool
	}{
		"new":             {`{}`, true, false},
		"unschedulable":   {unschedulable, true, true},
		"bound":           {`spec: {nodeName: a}`, false, false},
		"gated":           {"spec: {schedulingGates: [{name: g}]}\n" + unschedulable, false, false},
		"other scheduler": {"spec: {schedulerName: mine}\n" + unschedulable, false, false},
		"terminating":     {"metadata: {deletionTimestamp: \"2026-03-04T11:00:00Z\"}\n" + unschedulable, false, false},
		"done":            {`status: {phase: Succeeded}`, false, false},
		"daemon":          {"metadata: {ownerReferences: [{kind: DaemonSet, controller: true}]}\n" + unschedulable, false, false},
		"mirror":          {"metadata: {ownerReferences: [{kind: Node, controller: true}]}\n" + unschedulable, false, false},
	} {
		pod := parse[corev1.Pod](t, tc.pod)
		if got := []bool{Waiting(pod, false), Waiting(pod, true)}; !slices.Equal(got, []bool{tc.fresh, tc.tried}) {
			t.Errorf("%s: waiting %v, want %v", name, got, []bool{tc.fresh, tc.tried})
		}
	}
}

// TestPlannedPods: a pod that a claim was made for is not pending again.
func TestPlannedPods(t *testing.T) {
	pod := func(name, status string) *corev1.Pod {
		p := parse[corev1.Pod](t, status)
		p.Namespace, p.Name = "shop", name
		return p
	}
	waiting := `status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]%s}`
	byAnnotation, byUID, byName, free := pod("a", fmt.Sprintf(waiting, "")), pod("b", fmt.Sprintf(waiting, "")), pod("c", fmt.Sprintf(waiting, ", nominatedNodeName: ip-1")), pod("d", fmt.Sprintf(waiting, ""))
	byUID.UID = "uid-b"
	node := parse[corev1.Node](t, `{metadata: {name: ip-1}, status: {allocatable: {pods: "10"}}}`)
	state := func(conditions string) []int32 {
		in := Inputs{
			Time: noon, Live: true, Nodes: []*corev1.Node{node}, Pods: []*corev1.Pod{free, byName, byUID, byAnnotation},
			NodeClaims: []*karpv1.NodeClaim{claim(t, "c", fmt.Sprintf(`{metadata: {annotations: {spokeshave.dev/planned-pods: '["shop/a","shop/x"]'}}, spec: {}, status: {nodeName: ip-1, conditions: [%s]}}`, conditions))},
			Planned:    map[string]string{"uid-b": "c"},
		}
		s, _ := Build(in)
		var out []int32
		for i := range s.Pods {
			out = append(out, s.Pods[i].Node)
		}
		if nominated := slices.ContainsFunc(out, func(n int32) bool { return n >= 0 }); s.Nodes[0].Nominated != nominated {
			t.Errorf("nominated %v with pods on %v", s.Nodes[0].Nominated, out)
		}
		return out
	}
	if got := state(""); !slices.Equal(got, []int32{0, 0, 0, -1}) {
		t.Errorf("registered node: pods on %v", got)
	}
	if got := state(`{type: Initialized, status: "True", lastTransitionTime: "2026-03-04T11:59:50Z"}`); !slices.Equal(got, []int32{0, 0, 0, -1}) {
		t.Errorf("node that just became ready: pods on %v", got)
	}
	if got := state(`{type: Initialized, status: "True", lastTransitionTime: "2026-03-04T11:59:00Z"}`); !slices.Equal(got, []int32{-1, 0, -1, -1}) {
		t.Errorf("pods that did not land count again, but for those the caller vouches for: pods on %v", got)
	}
}

// TestPlannedPodsOverflow: a planned pod whose room others have taken is
// pending again at once; the scheduler will not bind it there.
func TestPlannedPodsOverflow(t *testing.T) {
	pod := func(name, cpu, node string) *corev1.Pod {
		return parse[corev1.Pod](t, fmt.Sprintf(`{metadata: {namespace: shop, name: %s}, spec: {nodeName: %q, containers: [{name: a, resources: {requests: {cpu: %q}}}]},
			status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`, name, node, cpu))
	}
	in := Inputs{
		Time: noon, Live: true,
		Nodes: []*corev1.Node{parse[corev1.Node](t, `{metadata: {name: ip-1}, status: {allocatable: {cpu: "4", pods: "10"}}}`)},
		Pods:  []*corev1.Pod{pod("a-big", "2", ""), pod("b-small", "1", ""), pod("z-intruder", "2500m", "ip-1")},
		NodeClaims: []*karpv1.NodeClaim{claim(t, "c", `{metadata: {annotations: {spokeshave.dev/planned-pods: '["shop/a-big","shop/b-small"]'}}, spec: {},
			status: {nodeName: ip-1, conditions: [{type: Initialized, status: "True", lastTransitionTime: "2026-03-04T11:59:50Z"}]}}`)},
	}
	s, _ := Build(in)
	if got := []int32{s.Pods[0].Node, s.Pods[1].Node, s.Pods[2].Node}; !slices.Equal(got, []int32{-1, 0, 0}) {
		t.Errorf("pods on %v, want the big one pending and the small one still expected", got)
	}
	if !s.Nodes[0].Nominated {
		t.Error("the small pod is still expected, and the node not nominated")
	}
	in.Pods[2] = pod("z-intruder", "4", "ip-1")
	if s, _ = Build(in); s.Pods[0].Node != -1 || s.Pods[1].Node != -1 || s.Nodes[0].Nominated {
		t.Errorf("a full node expects nothing: pods on %d and %d, nominated %v", s.Pods[0].Node, s.Pods[1].Node, s.Nodes[0].Nominated)
	}
}

func TestWarnings(t *testing.T) {
	in := Inputs{
		NodePools:  []*karpv1.NodePool{parse[karpv1.NodePool](t, poolYAML)},
		Pods:       []*corev1.Pod{parse[corev1.Pod](t, `{metadata: {namespace: shop, name: p}, spec: {nodeName: gone}}`)},
		ClassReady: func(string) (bool, string) { return false, "no subnets" },
	}
	_, got := Build(in)
	want := []Warning{
		{"NodePool general", "launches nothing: EC2NodeClass default: no subnets"},
		{"Node gone", "does not exist; its 1 pods are left out"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPriorities(t *testing.T) {
	s, _ := Build(Inputs{
		PriorityClasses: []*schedulingv1.PriorityClass{{Value: 5, GlobalDefault: true}, {Value: 9}},
		Pods:            []*corev1.Pod{parse[corev1.Pod](t, `{metadata: {name: p}}`)},
	})
	if got := s.Specs[0].Priority; got != 5 {
		t.Errorf("priority %d, want the global default 5", got)
	}
}

// crowd is a cluster of pods from few templates, as clusters are.
func crowd(t testing.TB, pods, nodes int) Inputs {
	in := Inputs{
		Time: noon, Catalogs: map[string]model.Catalog{"default": testCatalog()},
		NodePools:  []*karpv1.NodePool{parse[karpv1.NodePool](t, poolYAML)},
		DaemonSets: []*appsv1.DaemonSet{parse[appsv1.DaemonSet](t, `{metadata: {name: ds, namespace: kube-system}, spec: {template: {spec: {containers: [{name: a, resources: {requests: {cpu: 50m}}}]}}}}`)},
	}
	for i := range nodes {
		name := fmt.Sprintf("node-%04d", i)
		c := claim(t, name, fmt.Sprintf(launched, `, {type: Registered, status: "True"}, {type: Initialized, status: "True"}`))
		c.Status.NodeName = name
		in.NodeClaims = append(in.NodeClaims, c)
		n := parse[corev1.Node](t, `{status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}, capacity: {cpu: "8", memory: 32Gi, pods: "110"}}}`)
		n.Name, n.Labels = name, c.Labels
		in.Nodes = append(in.Nodes, n)
	}
	for i := range pods {
		p := parse[corev1.Pod](t, fmt.Sprintf(`
metadata: {namespace: team-%d, labels: {app: web, pod-template-hash: h%d}, ownerReferences: [{kind: ReplicaSet, controller: true}]}
spec:
  containers: [{name: a, image: i, ports: [{containerPort: 80}], resources: {requests: {cpu: %dm, memory: %dMi}, limits: {memory: 1Gi}}}, {name: b, resources: {requests: {cpu: 10m}}}]
  tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}, {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}}
`, i%7, i%100, 50+i%100, 64+i%100))
		p.Name = fmt.Sprintf("pod-%05d", i)
		p.UID = "u"
		if nodes > 0 && i%2 == 0 {
			p.Spec.NodeName = in.Nodes[i%nodes].Name
		}
		in.Pods = append(in.Pods, p)
	}
	return in
}

// TestOrder: the order of the objects does not matter, and a snapshot made
// twice is the same.
func TestOrder(t *testing.T) {
	in := crowd(t, 300, 20)
	want, _ := Build(in)
	if len(want.Specs) > 300 || len(want.Pods) != 300 || len(want.Nodes) != 20 {
		t.Fatalf("%d specs, %d pods, %d nodes", len(want.Specs), len(want.Pods), len(want.Nodes))
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(in.Pods), func(i, j int) { in.Pods[i], in.Pods[j] = in.Pods[j], in.Pods[i] })
	r.Shuffle(len(in.Nodes), func(i, j int) { in.Nodes[i], in.Nodes[j] = in.Nodes[j], in.Nodes[i] })
	r.Shuffle(len(in.NodeClaims), func(i, j int) { in.NodeClaims[i], in.NodeClaims[j] = in.NodeClaims[j], in.NodeClaims[i] })
	got, _ := Build(in)
	a, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Error(cmp.Diff(want, got))
	}
}

// TestInterning: pods share a spec exactly when their specs are equal.
func TestInterning(t *testing.T) {
	base := `{metadata: {namespace: shop, labels: {app: web}}, spec: {containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`
	for name, other := range map[string]string{
		"cpu":       `{metadata: {namespace: shop, labels: {app: web}}, spec: {containers: [{name: a, resources: {requests: {cpu: 101m}}}]}}`,
		"namespace": `{metadata: {namespace: mall, labels: {app: web}}, spec: {containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`,
		"label":     `{metadata: {namespace: shop, labels: {app: api}}, spec: {containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`,
		"selector":  `{metadata: {namespace: shop, labels: {app: web}}, spec: {nodeSelector: {a: b}, containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`,
		"priority":  `{metadata: {namespace: shop, labels: {app: web}}, spec: {priority: 1, containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`,
		"spread":    `{metadata: {namespace: shop, labels: {app: web}}, spec: {topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: DoNotSchedule}], containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`,
		"port":      `{metadata: {namespace: shop, labels: {app: web}}, spec: {containers: [{name: a, ports: [{hostPort: 1}], resources: {requests: {cpu: 100m}}}]}}`,
		"affinity":  `{metadata: {namespace: shop, labels: {app: web}}, spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}, containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`,
		"init":      `{metadata: {namespace: shop, labels: {app: web}}, spec: {initContainers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`,
		"overhead":  `{metadata: {namespace: shop, labels: {app: web}}, spec: {overhead: {cpu: 1}, containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`,
		"volume":    `{metadata: {namespace: shop, labels: {app: web}}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`,
	} {
		x := newInterner(alone(), nil)
		a, b, c := x.spec(parse[corev1.Pod](t, base)), x.spec(parse[corev1.Pod](t, other)), x.spec(parse[corev1.Pod](t, base))
		if a == b || a != c || len(x.specs) != 2 {
			t.Errorf("%s: specs %d, %d, %d", name, a, b, c)
		}
	}
	x := newInterner(alone(), nil)
	first := parse[corev1.Pod](t, base)
	first.Labels["apps.kubernetes.io/pod-index"] = "0"
	if x.spec(first) != x.spec(parse[corev1.Pod](t, base)) {
		t.Error("the number of a StatefulSet's pod makes a class of its own")
	}
}

// TestMemo: remembering changes nothing but the time, and a changed pod is
// looked at again.
func TestMemo(t *testing.T) {
	in := crowd(t, 60, 3)
	in.Memo = &Memo{}
	for i, p := range in.Pods {
		p.UID, p.ResourceVersion = types.UID(p.Name), "1"
		if i%3 > 0 {
			p.Spec.Priority = new(int32(7))
		}
	}
	same := func() {
		t.Helper()
		got, _ := Build(in)
		fresh := in
		fresh.Memo = nil
		want, _ := Build(fresh)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	same()
	if n := len(in.Memo.last); n != 40 {
		t.Errorf("%d pods remembered, want the 40 whose priority is settled", n)
	}
	same()
	changed := in.Pods[1].DeepCopy()
	changed.Labels["app"], changed.ResourceVersion = "other", "2"
	in.Pods[1] = changed
	in.Pods = in.Pods[:30]
	same()
	if n := len(in.Memo.last); n != 20 {
		t.Errorf("%d pods remembered, want 20: those that are gone are forgotten", n)
	}
}

func BenchmarkLower(b *testing.B) {
	for name, memo := range map[string]*Memo{"fresh": nil, "memo": {}} {
		b.Run("pods=10000/nodes=1000/"+name, func(b *testing.B) {
			in := crowd(b, 10_000, 1_000)
			for _, p := range in.Pods {
				p.UID, p.ResourceVersion, p.Spec.Priority = types.UID(p.Name), "1", new(int32)
			}
			in.Memo = memo
			b.ReportAllocs()
			for b.Loop() {
				s, _ := Build(in)
				if len(s.Pods) != 10_000 || len(s.Nodes) != 1_000 {
					b.Fatal(len(s.Pods), len(s.Nodes))
				}
			}
		})
	}
}
