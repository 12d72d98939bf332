package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/core/model"
)

// parse reads an object from YAML.
func parse[T any](t testing.TB, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

const mi = int64(1) << 20

func TestPodSpec(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   string
		want   model.PodSpec
	}{
		"containers add up": {
			"cpu rounds up to millicores, memory to bytes",
			`{containers: [{name: a, resources: {requests: {cpu: 0.1005, memory: 64Mi}}}, {name: b, resources: {requests: {cpu: "1", nvidia.com/gpu: 1}}}]}`,
			model.PodSpec{Requests: model.Resources{"cpu": 1101, "memory": 64 * mi, "nvidia.com/gpu": 1, "pods": 1}},
		},
		"init container": {
			"the largest init container counts, not the sum",
			`{initContainers: [{name: i, resources: {requests: {cpu: 2}}}, {name: j, resources: {requests: {cpu: 1}}}], containers: [{name: a, resources: {requests: {cpu: 500m}}}]}`,
			model.PodSpec{Requests: model.Resources{"cpu": 2000, "pods": 1}},
		},
		"sidecar": {
			"a sidecar runs beside the containers and later init containers",
			`{initContainers: [{name: s, restartPolicy: Always, resources: {requests: {cpu: 300m}}}, {name: i, resources: {requests: {cpu: 1}}}], containers: [{name: a, resources: {requests: {cpu: 500m}}}]}`,
			model.PodSpec{Requests: model.Resources{"cpu": 1300, "pods": 1}},
		},
		"overhead": {
			"the runtime's overhead is on top",
			`{overhead: {cpu: 50m, memory: 10Mi}, containers: [{name: a, resources: {requests: {cpu: 500m}}}]}`,
			model.PodSpec{Requests: model.Resources{"cpu": 550, "memory": 10 * mi, "pods": 1}},
		},
		"limits": {
			"a limit without a request is a request",
			`{containers: [{name: a, resources: {requests: {cpu: 500m}, limits: {cpu: 4, memory: 1Gi}}}]}`,
			model.PodSpec{Requests: model.Resources{"cpu": 500, "memory": 1024 * mi, "pods": 1}},
		},
		"exponent": {
			"an amount that takes minutes to be added counts as the largest one",
			`{overhead: {memory: 1e99999999}, containers: [{name: a, resources: {requests: {cpu: 1e99999999}}}, {name: b, resources: {requests: {cpu: 1, memory: 1Gi}}}]}`,
			model.PodSpec{Requests: model.Resources{"cpu": 1 << 56, "memory": 1 << 56, "pods": 1}},
		},
		"tolerations of ours": {
			"no pod passes for a placeholder of a static pool, nor for one that a node is reserved for",
			`{tolerations: [{key: spokeshave.dev/placeholder, operator: Exists}, {key: spokeshave.dev/reserved, operator: Exists}], containers: [{name: a, resources: {requests: {cpu: 500m}}}]}`,
			model.PodSpec{Requests: model.Resources{"cpu": 500, "pods": 1}},
		},
		"pod level": {
			"resources of the whole pod replace the sum",
			`{resources: {requests: {cpu: 3}}, containers: [{name: a, resources: {requests: {cpu: 500m, memory: 1Mi}}}]}`,
			model.PodSpec{Requests: model.Resources{"cpu": 3000, "memory": mi, "pods": 1}},
		},
		"zero": {
			"asking for none of a resource asks for nothing",
			`{containers: [{name: a, resources: {requests: {nvidia.com/gpu: 0}}}]}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}},
		},
		"selector": {
			"deprecated keys become current ones",
			`{nodeSelector: {beta.kubernetes.io/arch: arm64, team: a}}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, NodeSelector: map[string]string{"kubernetes.io/arch": "arm64", "team": "a"}},
		},
		"contradicting selector": {
			"two keys for one label with two values stay apart",
			`{nodeSelector: {beta.kubernetes.io/arch: arm64, kubernetes.io/arch: amd64}}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, NodeSelector: map[string]string{"beta.kubernetes.io/arch": "arm64", "kubernetes.io/arch": "amd64"}},
		},
		"affinity": {
			"terms are alternatives; an empty one is none",
			`{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}, {matchExpressions: [{key: size, operator: Gt, values: ["3"]}]}]},
			  preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: {matchExpressions: [{key: x, operator: Exists}]}}]}}}`,
			model.PodSpec{
				Requests:  model.Resources{"pods": 1},
				Affinity:  []model.Term{{{Key: "size", Operator: model.Gt, Values: []string{"3"}}}},
				Preferred: []model.WeightedTerm{{Weight: 7, Term: model.Term{{Key: "x", Operator: model.Exists}}}},
			},
		},
		"impossible affinity": {
			"only empty terms match no node",
			`{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, Affinity: []model.Term{{}}},
		},
		"match fields": {
			"a node by name is a node by host name",
			`{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}], matchExpressions: [{key: x, operator: Exists}]}]}}}}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, Affinity: []model.Term{{{Key: "x", Operator: model.Exists}, {Key: "kubernetes.io/hostname", Operator: model.NotIn, Values: []string{"n1"}}}}},
		},
		"other fields": {
			"nodes have no other field to select by",
			`{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: spec.providerID, operator: In, values: [n]}]}]}}}}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, Affinity: []model.Term{{}}, Unsupported: []string{"nodeAffinity.matchFields of another field than metadata.name"}},
		},
		"tolerations": {
			"the default operator is Equal; operators that compare numbers are kept",
			`{tolerations: [{key: a, value: b}, {operator: Exists}, {key: c, operator: Lt, value: "3", effect: NoSchedule}]}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, Tolerations: []model.Toleration{
				{Key: "a", Value: "b"}, {Exists: true}, {Key: "c", Compare: model.Lt, Value: "3", Effect: model.NoSchedule},
			}},
		},
		"tolerations of our own": {
			"a pod for which a node was kept is equal to its like",
			`{tolerations: [{key: a, value: b}, {key: spokeshave.dev/reserved, operator: Equal, value: uid, effect: NoSchedule}]}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, Tolerations: []model.Toleration{{Key: "a", Value: "b"}}},
		},
		"host ports": {
			"of containers and sidecars, not of init containers",
			`{initContainers: [{name: i, ports: [{containerPort: 1, hostPort: 1}]}, {name: s, restartPolicy: Always, ports: [{containerPort: 2, hostPort: 2, hostIP: 0.0.0.0}]}], containers: [{name: a, ports: [{containerPort: 3}, {containerPort: 4, hostPort: 4, protocol: UDP, hostIP: 10.0.0.1}]}]}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, HostPorts: []model.HostPort{{Protocol: "TCP", Port: 2}, {IP: "10.0.0.1", Protocol: "UDP", Port: 4}}},
		},
		"host network": {
			"container ports are host ports",
			`{hostNetwork: true, containers: [{name: a, ports: [{containerPort: 80}]}]}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, HostPorts: []model.HostPort{{Protocol: "TCP", Port: 80}}},
		},
		"priority": {
			"the critical classes exist everywhere",
			`{priorityClassName: system-node-critical}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, Priority: 2000001000},
		},
		"unsupported": {
			"required constraints that are not planned for are named",
			`{resourceClaims: [{name: r}]}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, Unsupported: []string{"resourceClaims"}},
		},
		"claim": {
			"nothing is known of its volume here",
			`{volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}`,
			model.PodSpec{Requests: model.Resources{"pods": 1}, Unsupported: []string{"volume claim shop/c, which does not exist"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: *parse[corev1.PodSpec](t, tc.spec)}
			pod.Namespace = "shop"
			before := pod.DeepCopy()
			tc.want.Namespace = "shop"
			if diff := cmp.Diff(tc.want, PodSpec(pod)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Errorf("the pod was changed: %s", diff)
			}
		})
	}
}

func TestVolumes(t *testing.T) {
	zone := func(zones ...string) model.Term {
		return model.Term{{Key: corev1.LabelTopologyZone, Operator: model.In, Values: zones}}
	}
	in := Inputs{
		VolumeClaims: []*corev1.PersistentVolumeClaim{
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: zonal}, spec: {volumeName: ebs}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: free}, spec: {volumeName: nfs}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: gone}, spec: {volumeName: lost}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: waits}, spec: {}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: ends, deletionTimestamp: "2026-03-04T11:00:00Z"}, spec: {volumeName: nfs}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: orphan}, spec: {volumeName: nfs}, status: {phase: Lost}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: zoned}, spec: {storageClassName: zoned}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: now}, spec: {storageClassName: now}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: disk}, spec: {storageClassName: disks, accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: fast}, spec: {storageClassName: disks, accessModes: [ReadWriteOnce], selector: {matchLabels: {media: nvme}}}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: raw}, spec: {storageClassName: disks, accessModes: [ReadWriteOnce], volumeMode: Block}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: mine}, spec: {storageClassName: disks, accessModes: [ReadWriteOnce], volumeMode: Filesystem, resources: {requests: {storage: 200Gi}}}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: theirs}, spec: {storageClassName: disks, accessModes: [ReadWriteOnce], volumeMode: Filesystem, resources: {requests: {storage: 200Gi}}}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: huge}, spec: {storageClassName: disks, resources: {requests: {storage: 1Ti}}}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: many}, spec: {storageClassName: disks, accessModes: [ReadWriteMany]}}`),
		},
		Volumes: []*corev1.PersistentVolume{
			parse[corev1.PersistentVolume](t, `{metadata: {name: ebs}, spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.ebs.csi.aws.com/zone, operator: In, values: [a]}]}]}}}}`),
			parse[corev1.PersistentVolume](t, `{metadata: {name: nfs}}`),
			parse[corev1.PersistentVolume](t, `{metadata: {name: disk-d, labels: {media: nvme}}, spec: {storageClassName: disks, accessModes: [ReadWriteOnce], capacity: {storage: 100Gi}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [d]}]}]}}}}`),
			parse[corev1.PersistentVolume](t, `{metadata: {name: disk-c}, spec: {storageClassName: disks, accessModes: [ReadWriteOnce], capacity: {storage: 100Gi}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [c]}]}]}}}}`),
			parse[corev1.PersistentVolume](t, `{metadata: {name: disk-e}, spec: {storageClassName: disks, accessModes: [ReadWriteOnce], capacity: {storage: 100Gi}, claimRef: {namespace: shop, name: other}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [e]}]}]}}}}`),
			parse[corev1.PersistentVolume](t, `{metadata: {name: disk-f}, spec: {storageClassName: disks, accessModes: [ReadWriteOnce], capacity: {storage: 200Gi}, claimRef: {namespace: shop, name: mine}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [f]}]}]}}}}`),
		},
		StorageClasses: []*storagev1.StorageClass{
			parse[storagev1.StorageClass](t, `{metadata: {name: disks}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}`),
			parse[storagev1.StorageClass](t, `{metadata: {name: gp3, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}, provisioner: p, volumeBindingMode: WaitForFirstConsumer}`),
			parse[storagev1.StorageClass](t, `{metadata: {name: zoned}, provisioner: p, volumeBindingMode: WaitForFirstConsumer, allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [a, b]}]}]}`),
			parse[storagev1.StorageClass](t, `{metadata: {name: now}, provisioner: p}`),
		},
	}
	cases := map[string]struct {
		reason      string
		volumes     string
		affinity    []model.Term
		unsupported []string
	}{
		"zonal":     {"a bound volume keeps its pod in its zone", `[{name: v, persistentVolumeClaim: {claimName: zonal}}]`, []model.Term{zone("a")}, nil},
		"free":      {"a volume without affinity goes anywhere", `[{name: v, persistentVolumeClaim: {claimName: free}}]`, nil, nil},
		"waits":     {"the default class follows the pod", `[{name: v, persistentVolumeClaim: {claimName: waits}}]`, nil, nil},
		"ephemeral": {"so does an ephemeral volume", `[{name: v, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: gp3}}}}]`, nil, nil},
		"both": {
			"two volumes restrict together", `[{name: v, persistentVolumeClaim: {claimName: zonal}}, {name: w, persistentVolumeClaim: {claimName: zoned}}]`,
			[]model.Term{append(zone("a"), zone("a", "b")...)},
			nil,
		},
		"gone": {"a lost volume", `[{name: v, persistentVolumeClaim: {claimName: gone}}]`, nil, []string{"volume claim shop/gone, whose volume lost does not exist"}},
		"disk": {
			"a class that provisions nothing has the volumes that are there and free", `[{name: v, persistentVolumeClaim: {claimName: disk}}]`,
			[]model.Term{zone("c", "d")},
			nil,
		},
		"selected": {"of them, those that the claim selects", `[{name: v, persistentVolumeClaim: {claimName: fast}}]`, []model.Term{zone("d")}, nil},
		"raw": {
			"none is a device", `[{name: v, persistentVolumeClaim: {claimName: raw}}]`,
			nil,
			[]string{`unbound volume claim shop/raw of storage class "disks", which provisions nothing and has no volume to bind`},
		},
		"kept": {
			"one is kept for the claim, and for no other that asks for the same",
			`[{name: w, persistentVolumeClaim: {claimName: theirs}}, {name: v, persistentVolumeClaim: {claimName: mine}}, {name: x, persistentVolumeClaim: {claimName: theirs}}]`,
			[]model.Term{zone("f")},
			[]string{
				`unbound volume claim shop/theirs of storage class "disks", which provisions nothing and has no volume to bind`,
				`unbound volume claim shop/theirs of storage class "disks", which provisions nothing and has no volume to bind`,
			},
		},
		"huge": {
			"none is large enough", `[{name: v, persistentVolumeClaim: {claimName: huge}}]`,
			nil,
			[]string{`unbound volume claim shop/huge of storage class "disks", which provisions nothing and has no volume to bind`},
		},
		"many": {
			"none may be shared", `[{name: v, persistentVolumeClaim: {claimName: many}}]`,
			nil,
			[]string{`unbound volume claim shop/many of storage class "disks", which provisions nothing and has no volume to bind`},
		},
		"ends":   {"no pod may begin to use a claim that is being deleted", `[{name: v, persistentVolumeClaim: {claimName: ends}}]`, nil, []string{"volume claim shop/ends, which is being deleted"}},
		"orphan": {"its volume was deleted", `[{name: v, persistentVolumeClaim: {claimName: orphan}}]`, nil, []string{"volume claim shop/orphan, which has lost its volume nfs"}},
		"now":    {"the volume must come first", `[{name: v, persistentVolumeClaim: {claimName: now}}]`, nil, []string{`unbound volume claim shop/now of storage class "now", which does not wait for its first consumer`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"}}
			pod.Spec.Volumes = *parse[[]corev1.Volume](t, tc.volumes)
			got := (&podLowerer{volumes: newVolumes(&in)}).podSpec(pod)
			if diff := cmp.Diff(tc.affinity, got.Affinity); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.unsupported, got.Unsupported); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLocalVolumes: a pod that runs may be moved away from a volume on its node's own disk,
// as in Karpenter; one that waits is bound where its volume is.
func TestLocalVolumes(t *testing.T) {
	const affinity = `nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [one]}]}]}}`
	zoned := strings.Replace(affinity, "matchExpressions: [", "matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}, ", 1)
	zone := model.Requirement{Key: corev1.LabelTopologyZone, Operator: model.In, Values: []string{"a"}}
	host := model.Requirement{Key: corev1.LabelHostname, Operator: model.In, Values: []string{"one"}}
	for name, tc := range map[string]struct {
		reason string
		volume string
		node   string
		want   []model.Term
	}{
		"local, waits":  {reason: "only its node has the disk", volume: `{local: {path: /disk}, ` + affinity + `}`, want: []model.Term{{host}}},
		"local, runs":   {reason: "its node may go", volume: `{local: {path: /disk}, ` + affinity + `}`, node: "one"},
		"host path":     {reason: "its node may go", volume: `{hostPath: {path: /disk}, ` + affinity + `}`, node: "one"},
		"zone":          {reason: "the rest of its affinity holds", volume: `{local: {path: /disk}, ` + zoned + `}`, node: "one", want: []model.Term{{zone}}},
		"other volumes": {reason: "a driver's affinity is meant", volume: `{csi: {driver: d, volumeHandle: v}, ` + affinity + `}`, node: "one", want: []model.Term{{host}}},
	} {
		t.Run(name, func(t *testing.T) {
			in := Inputs{
				VolumeClaims: []*corev1.PersistentVolumeClaim{parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: disk}, spec: {volumeName: v}}`)},
				Volumes:      []*corev1.PersistentVolume{parse[corev1.PersistentVolume](t, `{metadata: {name: v}, spec: `+tc.volume+`}`)},
			}
			pod := parse[corev1.Pod](t, `{metadata: {namespace: shop, name: p}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: disk}}]}}`)
			pod.Spec.NodeName = tc.node
			got := (&podLowerer{volumes: newVolumes(&in)}).podSpec(pod)
			if diff := cmp.Diff(tc.want, got.Affinity); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestManyDisks: a hundred volumes, each on its own node, become one alternative, which
// can be combined with others of the pod.
func TestManyDisks(t *testing.T) {
	in := Inputs{
		StorageClasses: []*storagev1.StorageClass{parse[storagev1.StorageClass](t, `{metadata: {name: disks}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}`)},
		VolumeClaims:   []*corev1.PersistentVolumeClaim{parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: disk}, spec: {storageClassName: disks}}`)},
	}
	for i := range 200 { // two on each
		in.Volumes = append(in.Volumes, parse[corev1.PersistentVolume](t, fmt.Sprintf(`{metadata: {name: disk-%d}, spec: {storageClassName: disks,
			nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-%d]}]}]}}}}`, i, i/2)))
	}
	pod := parse[corev1.Pod](t, `{metadata: {namespace: shop, name: p}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: disk}}],
		affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}}}}`)
	got := (&podLowerer{volumes: newVolumes(&in)}).podSpec(pod)
	if len(got.Unsupported) > 0 || len(got.Affinity) != 1 || len(got.Affinity[0]) != 2 || len(got.Affinity[0][1].Values) != 100 {
		t.Errorf("unsupported: %v, affinity %v", got.Unsupported, got.Affinity)
	}
	if before := in.Volumes[0].Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values; len(before) != 1 || before[0] != "node-0" {
		t.Errorf("the volume was changed: %v", before)
	}
}

// TestDefaultClass: of several default classes the newest is used, in any order of the
// list.
func TestDefaultClass(t *testing.T) {
	classes := func(specs ...string) []*storagev1.StorageClass {
		var out []*storagev1.StorageClass
		for _, s := range specs {
			out = append(out, parse[storagev1.StorageClass](t, s))
		}
		return out
	}
	const (
		old   = `{metadata: {name: old, creationTimestamp: "2024-01-01T00:00:00Z", annotations: {storageclass.kubernetes.io/is-default-class: "true"}}}`
		young = `{metadata: {name: young, creationTimestamp: "2025-01-01T00:00:00Z", annotations: {storageclass.beta.kubernetes.io/is-default-class: "true"}}}`
		twin  = `{metadata: {name: twin, creationTimestamp: "2025-01-01T00:00:00Z", annotations: {storageclass.kubernetes.io/is-default-class: "true"}}}`
		other = `{metadata: {name: other, creationTimestamp: "2026-01-01T00:00:00Z", annotations: {storageclass.kubernetes.io/is-default-class: "false"}}}`
	)
	for name, tc := range map[string]struct {
		reason, want string
		classes      []*storagev1.StorageClass
	}{
		"newest":         {"the youngest of them", "young", classes(young, old, other)},
		"any order":      {"wherever it stands", "young", classes(other, old, young)},
		"tie":            {"equally old ones by name", "twin", classes(young, twin, old)},
		"tie, other way": {"in whatever order", "twin", classes(twin, young)},
		"none":           {"there may be none", "", classes(other)},
	} {
		if got := newVolumes(&Inputs{StorageClasses: tc.classes}).defaultClass; got != tc.want {
			t.Errorf("%s: %s: got %q, want %q", name, tc.reason, got, tc.want)
		}
	}
}

func TestBoth(t *testing.T) {
	a, b := model.Term{{Key: "a", Operator: model.Exists}}, model.Term{{Key: "b", Operator: model.Exists}}
	nothing := []model.Term{{}}
	for name, tc := range map[string]struct{ left, right, want []model.Term }{
		"no restriction": {nil, nil, nil},
		"one side":       {nil, []model.Term{a}, []model.Term{a}},
		"product":        {[]model.Term{a, b}, []model.Term{b}, []model.Term{append(a[:1:1], b...), append(b[:1:1], b...)}},
		"never":          {nothing, []model.Term{a}, nothing},
	} {
		if got, ok := conjunction(tc.left, tc.right); !ok || cmp.Diff(tc.want, got) != "" {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
	if _, ok := conjunction(make([]model.Term, 9), make([]model.Term, 9)); ok {
		t.Error("81 combinations pass")
	}
}
