package lower

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// crowd returns a cluster whose pods come from few templates.
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
		"tolerate":  `{metadata: {namespace: shop, labels: {app: web}}, spec: {tolerations: [{key: t}], containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`,
		"volume":    `{metadata: {namespace: shop, labels: {app: web}}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}`,
	} {
		x := newInterner(withoutObjects(), nil)
		a, b, c := x.spec(parse[corev1.Pod](t, base)), x.spec(parse[corev1.Pod](t, other)), x.spec(parse[corev1.Pod](t, base))
		if a == b || a != c || len(x.specs) != 2 {
			t.Errorf("%s: specs %d, %d, %d", name, a, b, c)
		}
	}
	x := newInterner(withoutObjects(), nil)
	first := parse[corev1.Pod](t, base)
	first.Labels["apps.kubernetes.io/pod-index"] = "0"
	if x.spec(first) != x.spec(parse[corev1.Pod](t, base)) {
		t.Error("the number of a StatefulSet's pod makes a class of its own")
	}
	first = parse[corev1.Pod](t, base)
	first.Spec.Tolerations = []corev1.Toleration{karpv1.ReservedToleration("uid")}
	if x.spec(first) != x.spec(parse[corev1.Pod](t, base)) {
		t.Error("a pod for which a node was kept is in a class of its own")
	}
}

// TestSpecCache: a SpecCache changes only the time that Build takes, and a changed pod is encoded
// again.
func TestSpecCache(t *testing.T) {
	in := crowd(t, 60, 3)
	in.SpecCache = &SpecCache{}
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
		fresh.SpecCache = nil
		want, _ := Build(fresh)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	same()
	if n := len(in.SpecCache.previous); n != 40 {
		t.Errorf("%d pods remembered, want the 40 whose priority is settled", n)
	}
	same()
	changed := in.Pods[1].DeepCopy()
	changed.Labels["app"], changed.ResourceVersion = "other", "2"
	in.Pods[1] = changed
	in.Pods = in.Pods[:30]
	same()
	if n := len(in.SpecCache.previous); n != 20 {
		t.Errorf("%d pods remembered, want 20: those that are gone are forgotten", n)
	}
}

func BenchmarkLower(b *testing.B) {
	for name, cache := range map[string]*SpecCache{"fresh": nil, "cached": {}} {
		b.Run("pods=10000/nodes=1000/"+name, func(b *testing.B) {
			in := crowd(b, 10_000, 1_000)
			for _, p := range in.Pods {
				p.UID, p.ResourceVersion, p.Spec.Priority = types.UID(p.Name), "1", new(int32)
			}
			in.SpecCache = cache
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
