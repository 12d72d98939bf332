package lower

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

const ebsVolumes = model.VolumesPrefix + ebs

// attached returns the volumes that CSI drivers have to attach.
func attached(in model.Resources) model.Resources {
	out := maps.Clone(in)
	maps.DeleteFunc(out, func(name string, _ int64) bool { return !model.CountsVolumes(name) })
	return out
}

func TestAttach(t *testing.T) {
	in := Inputs{
		VolumeClaims: []*corev1.PersistentVolumeClaim{
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: csi}, spec: {volumeName: csi}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: old}, spec: {volumeName: old}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: nfs}, spec: {volumeName: nfs}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: waits}, spec: {storageClassName: gp3}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: gp2}, spec: {storageClassName: gp2}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: other}, spec: {storageClassName: other}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: free}, spec: {storageClassName: free}}`),
		},
		Volumes: []*corev1.PersistentVolume{
			parse[corev1.PersistentVolume](t, `{metadata: {name: csi}, spec: {csi: {driver: ebs.csi.aws.com, volumeHandle: v}}}`),
			parse[corev1.PersistentVolume](t, `{metadata: {name: old}, spec: {awsElasticBlockStore: {volumeID: v}}}`),
			parse[corev1.PersistentVolume](t, `{metadata: {name: nfs}, spec: {nfs: {server: s, path: p}}}`),
		},
		StorageClasses: []*storagev1.StorageClass{
			parse[storagev1.StorageClass](t, `{metadata: {name: gp3}, provisioner: ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer}`),
			parse[storagev1.StorageClass](t, `{metadata: {name: gp2}, provisioner: kubernetes.io/aws-ebs, volumeBindingMode: WaitForFirstConsumer}`),
			parse[storagev1.StorageClass](t, `{metadata: {name: other}, provisioner: other.io, volumeBindingMode: WaitForFirstConsumer}`),
			parse[storagev1.StorageClass](t, `{metadata: {name: free}, provisioner: free.io, volumeBindingMode: WaitForFirstConsumer}`),
		},
		CSINodes: []*storagev1.CSINode{parse[storagev1.CSINode](t, `{metadata: {name: n}, spec: {drivers: [{name: other.io, nodeID: n, allocatable: {count: 3}}, {name: free.io, nodeID: n}]}}`)},
	}
	claim := func(name string) string {
		return `{name: v-` + name + `, persistentVolumeClaim: {claimName: ` + name + `}}`
	}
	cases := map[string]struct {
		reason  string
		volumes string
		want    model.Resources
	}{
		"none":       {"a pod without claims attaches nothing", `[{name: v, emptyDir: {}}]`, model.Resources{}},
		"bound":      {"a bound volume of EBS", `[` + claim("csi") + `]`, model.Resources{ebsVolumes: 1}},
		"twice":      {"a claim is attached once, however often the pod names it", `[` + claim("csi") + `, {name: w, persistentVolumeClaim: {claimName: csi}}]`, model.Resources{ebsVolumes: 1}},
		"in tree":    {"the driver attaches the volumes of before it", `[` + claim("old") + `]`, model.Resources{ebsVolumes: 1}},
		"unbound":    {"the class says who will attach", `[` + claim("waits") + `,` + claim("gp2") + `]`, model.Resources{ebsVolumes: 2}},
		"ephemeral":  {"a claim to come counts", `[{name: v, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: gp3}}}}]`, model.Resources{ebsVolumes: 1}},
		"other":      {"a driver that some node limits", `[` + claim("other") + `]`, model.Resources{model.VolumesPrefix + "other.io": 1}},
		"unlimited":  {"a driver that no node limits is not counted", `[` + claim("free") + `]`, model.Resources{}},
		"no driver":  {"neither is what no driver attaches", `[` + claim("nfs") + `]`, model.Resources{}},
		"everything": {"together", `[` + claim("nfs") + `,` + claim("csi") + `,` + claim("other") + `]`, model.Resources{ebsVolumes: 1, model.VolumesPrefix + "other.io": 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{}
			pod.Namespace, pod.Name = "shop", "p"
			pod.Spec.Volumes = *parse[[]corev1.Volume](t, tc.volumes)
			in.Pods = []*corev1.Pod{pod}
			s, _ := Build(in)
			if diff := cmp.Diff(tc.want, attached(s.Specs[0].Requests)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAttachments: nodes and instance types have a limit for each driver in use.
func TestAttachments(t *testing.T) {
	types := testCatalog()
	big, small := types.Types[0].Labels, types.Types[1].Labels
	big["karpenter.k8s.aws/instance-hypervisor"], big["karpenter.k8s.aws/instance-gpu-count"], big["karpenter.k8s.aws/instance-local-nvme"] = "nitro", "4", "900"
	small["karpenter.k8s.aws/instance-hypervisor"] = "xen"
	in := Inputs{
		Time: noon, NodePools: []*karpv1.NodePool{parse[karpv1.NodePool](t, poolYAML)}, Catalogs: map[string]model.Catalog{"default": types},
		NodeClaims: []*karpv1.NodeClaim{claim(t, "coming", `{metadata: {labels: {node.kubernetes.io/instance-type: big}}, spec: {}}`)},
		Nodes: []*corev1.Node{
			parse[corev1.Node](t, `{metadata: {name: limited}}`), parse[corev1.Node](t, `{metadata: {name: open}}`), parse[corev1.Node](t, `{metadata: {name: silent}}`),
		},
		CSINodes: []*storagev1.CSINode{
			parse[storagev1.CSINode](t, `{metadata: {name: limited}, spec: {drivers: [{name: ebs.csi.aws.com, nodeID: n, allocatable: {count: 2}}]}}`),
			parse[storagev1.CSINode](t, `{metadata: {name: open}, spec: {drivers: [{name: ebs.csi.aws.com, nodeID: n}]}}`),
		},
		StorageClasses: []*storagev1.StorageClass{parse[storagev1.StorageClass](t, `{metadata: {name: gp3}, provisioner: ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer}`)},
		Pods: []*corev1.Pod{
			parse[corev1.Pod](t, `{metadata: {namespace: shop, name: p}, spec: {volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: gp3}}}}]}}`),
		},
	}
	s, _ := Build(in)
	got := map[string]int64{}
	for i := range s.Nodes {
		got[s.Nodes[i].Name] = s.Nodes[i].Allocatable[ebsVolumes]
	}
	for i := range s.Catalogs[0].Types {
		got[s.Catalogs[0].Types[i].Name] = s.Catalogs[0].Types[i].Allocatable[ebsVolumes]
	}
	want := map[string]int64{"limited": 2, "open": unlimited, "silent": unlimited, "coming": 25 - 8 - 4, "big": 25 - 8 - 4, "small": 38}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("volumes to attach (-want +got):\n%s", diff)
	}
	if _, touched := types.Types[0].Allocatable[ebsVolumes]; touched {
		t.Error("the catalogue handed in was changed")
	}
	in.Pods[0].Spec.Volumes = nil
	if s, _ = Build(in); len(attached(s.Nodes[0].Allocatable)) > 0 {
		t.Error("without volumes there is nothing to grant")
	}
}

// TestSharedClaim: the driver attaches a volume once, however many pods of a node
// use it.
func TestSharedClaim(t *testing.T) {
	pod := func(name, node, claim string) *corev1.Pod {
		return parse[corev1.Pod](t, `{metadata: {namespace: shop, name: `+name+`}, status: {phase: Running}, spec: {nodeName: `+node+`,
			volumes: [{name: v, persistentVolumeClaim: {claimName: `+claim+`}}, {name: w, persistentVolumeClaim: {claimName: `+claim+`}}]}}`)
	}
	in := Inputs{
		Nodes: []*corev1.Node{parse[corev1.Node](t, `{metadata: {name: a}}`), parse[corev1.Node](t, `{metadata: {name: b}}`)},
		CSINodes: []*storagev1.CSINode{
			parse[storagev1.CSINode](t, `{metadata: {name: a}, spec: {drivers: [{name: ebs.csi.aws.com, nodeID: n, allocatable: {count: 5}}]}}`),
			parse[storagev1.CSINode](t, `{metadata: {name: b}, spec: {drivers: [{name: ebs.csi.aws.com, nodeID: n, allocatable: {count: 5}}]}}`),
		},
		VolumeClaims: []*corev1.PersistentVolumeClaim{
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: one}, spec: {storageClassName: gp3}}`),
			parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: two}, spec: {storageClassName: gp3}}`),
		},
		StorageClasses: []*storagev1.StorageClass{parse[storagev1.StorageClass](t, `{metadata: {name: gp3}, provisioner: ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer}`)},
		Pods:           []*corev1.Pod{pod("p", "a", "one"), pod("q", "a", "one"), pod("r", "a", "one"), pod("s", "a", "two"), pod("t", "b", "two")},
	}
	s, _ := Build(in)
	left := map[string]int64{}
	for i := range s.Nodes {
		left[s.Nodes[i].Name] = s.Nodes[i].Allocatable[ebsVolumes]
	}
	for i := range s.Pods {
		left[s.Nodes[s.Pods[i].Node].Name] -= s.Specs[s.Pods[i].Spec].Requests[ebsVolumes]
	}
	if diff := cmp.Diff(map[string]int64{"a": 5 - 2, "b": 5 - 1}, left); diff != "" {
		t.Errorf("volumes that nodes can still attach (-want +got):\n%s", diff)
	}
}

// TestSharedClaimSentBack: when a planned pod finds no room on its node, what was added
// to the node's limit for its shared claim is subtracted again.
func TestSharedClaimSentBack(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		cpu    string
		claim  string
		left   int64
		stays  bool
	}{
		"sent back, shared":      {reason: "two volumes are attached, of five", cpu: "2", claim: "one", left: 3},
		"sent back, its own":     {reason: "two volumes are attached, of five", cpu: "2", claim: "three", left: 3},
		"finds room, shared":     {reason: "it needs no volume more", cpu: "1", claim: "one", left: 3, stays: true},
		"finds room, of its own": {reason: "a third volume", cpu: "1", claim: "three", left: 2, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			pod := func(name, where, cpu, claim, status string) *corev1.Pod {
				return parse[corev1.Pod](t, `{metadata: {namespace: shop, name: `+name+`}, status: {`+status+`}, spec: {`+where+`
					containers: [{name: a, resources: {requests: {cpu: "`+cpu+`"}}}], volumes: [{name: v, persistentVolumeClaim: {claimName: `+claim+`}}]}}`)
			}
			in := Inputs{
				Time: noon, Catalogs: map[string]model.Catalog{"default": testCatalog()},
				Nodes:    []*corev1.Node{parse[corev1.Node](t, `{metadata: {name: a}, status: {allocatable: {cpu: "2", pods: "10"}}}`)},
				CSINodes: []*storagev1.CSINode{parse[storagev1.CSINode](t, `{metadata: {name: a}, spec: {drivers: [{name: ebs.csi.aws.com, nodeID: n, allocatable: {count: 5}}]}}`)},
				NodeClaims: []*karpv1.NodeClaim{claim(t, "a", `{metadata: {annotations: {spokeshave.dev/planned-pods: '["shop/waits"]'}}, spec: {},
					status: {nodeName: a, conditions: [{type: Initialized, status: "True", lastTransitionTime: "`+noon.Format(time.RFC3339)+`"}]}}`)},
				StorageClasses: []*storagev1.StorageClass{parse[storagev1.StorageClass](t, `{metadata: {name: gp3}, provisioner: ebs.csi.aws.com, volumeBindingMode: WaitForFirstConsumer}`)},
				Pods: []*corev1.Pod{
					pod("p", "nodeName: a,", "500m", "one", "phase: Running"), pod("q", "nodeName: a,", "500m", "two", "phase: Running"),
					pod("waits", "", tc.cpu, tc.claim, ""),
				},
			}
			for _, name := range []string{"one", "two", "three"} {
				in.VolumeClaims = append(in.VolumeClaims, parse[corev1.PersistentVolumeClaim](t, `{metadata: {namespace: shop, name: `+name+`}, spec: {storageClassName: gp3}}`))
			}
			s, _ := Build(in)
			left := s.Nodes[0].Allocatable[ebsVolumes]
			for i := range s.Pods {
				if s.Pods[i].Node == 0 {
					left -= s.Specs[s.Pods[i].Spec].Requests[ebsVolumes]
				}
			}
			if stays := s.Pods[2].Node == 0; stays != tc.stays || left != tc.left {
				t.Errorf("%s: the pod stays: %v, want %v; %d volumes can still be attached, want %d", tc.reason, stays, tc.stays, left, tc.left)
			}
		})
	}
}
