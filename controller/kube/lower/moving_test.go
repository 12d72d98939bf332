package lower

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// TestMoving follows the pods of a node that is being deleted: each needs one new
// place, once, from the first decision until its successor runs.
func TestMoving(t *testing.T) {
	const going, coming = 1, 0 // by name: "coming", then "going"
	stateful := `ownerReferences: [{kind: StatefulSet, name: web, controller: true}]`
	owned := `ownerReferences: [{kind: ReplicaSet, controller: true}]`
	onDeleting := func(meta, spec string) *corev1.Pod {
		return parse[corev1.Pod](t, fmt.Sprintf(`{metadata: {name: web-1, namespace: shop, %s}, spec: {nodeName: going, %s containers: [{name: a, resources: {requests: {cpu: "1"}}}]}}`, meta, spec))
	}
	lost := func(meta string) *corev1.Pod {
		p := onDeleting(meta, "")
		p.Spec.NodeName = "gone"
		return p
	}
	successor := parse[corev1.Pod](t, `{metadata: {name: web-2, namespace: shop, `+owned+`}, spec: {containers: [{name: a, resources: {requests: {cpu: "1"}}}]},
		status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`)
	intruder := parse[corev1.Pod](t, `{metadata: {name: z, namespace: shop, `+owned+`}, spec: {nodeName: coming, containers: [{name: a, resources: {requests: {cpu: "1500m"}}}]}}`)
	const (
		noClaim     = ""
		inFlight    = `{metadata: {annotations: {spokeshave.dev/planned-pods: '["shop/web-1"]'}}, spec: {}}`
		initialized = `{metadata: {annotations: {spokeshave.dev/planned-pods: '["shop/web-1"]'}}, spec: {}, status: {nodeName: coming, conditions: [{type: Initialized, status: "True", lastTransitionTime: "2026-03-04T11:00:00Z"}]}}`
		leaving     = `{metadata: {deletionTimestamp: "2026-03-04T11:59:00Z", annotations: {spokeshave.dev/planned-pods: '["shop/web-1"]'}}, spec: {}, status: {nodeName: coming}}`
	)
	moved := []model.Move{{Pod: 0, From: going, To: coming}}
	cases := map[string]struct {
		reason string
		claim  string
		pods   []*corev1.Pod
		needs  []bool
		nodes  []int32
		moves  []model.Move
	}{
		"first decision": {"nothing is planned yet", noClaim, []*corev1.Pod{onDeleting(owned, "")}, []bool{true}, []int32{0}, nil},
		"planned":        {"room for it is in flight", inFlight, []*corev1.Pod{onDeleting(owned, "")}, []bool{false}, []int32{coming}, moved},
		"long drain":     {"the room stays its own for as long as the drain takes", initialized, []*corev1.Pod{onDeleting(owned, "")}, []bool{false}, []int32{coming}, moved},
		"room taken":     {"unless others took it", initialized, []*corev1.Pod{onDeleting(owned, ""), intruder}, []bool{true, false}, []int32{going, coming}, nil},
		"place going":    {"a place that is going itself is none", leaving, []*corev1.Pod{onDeleting(owned, "")}, []bool{true}, []int32{going}, nil},
		"evicted": {
			"the pod that ends needs nothing, and its successor finds the room free", inFlight,
			[]*corev1.Pod{onDeleting(owned+`, deletionTimestamp: "2026-03-04T11:59:00Z"`, ""), successor},
			[]bool{false, true},
			[]int32{going, -1},
			nil,
		},
		"stateful": {
			"a pod that a StatefulSet makes again needs its place while it ends", noClaim,
			[]*corev1.Pod{onDeleting(stateful+`, deletionTimestamp: "2026-03-04T11:59:00Z"`, "")},
			[]bool{true},
			[]int32{0},
			nil,
		},
		"stateful, planned": {
			"and keeps the room that was planned for it", initialized,
			[]*corev1.Pod{onDeleting(stateful+`, deletionTimestamp: "2026-03-04T11:59:00Z"`, "")},
			[]bool{false},
			[]int32{coming},
			moved,
		},
		"node gone": {
			"a pod that nobody evicts outlives its node, and its successor needs the room that was planned", initialized,
			[]*corev1.Pod{lost(owned)},
			[]bool{false},
			[]int32{coming},
			[]model.Move{{Pod: 0, From: -1, To: coming}},
		},
		"node gone, bare pod":    {"nobody makes it again", initialized, []*corev1.Pod{lost(`labels: {a: b}`)}, nil, nil, nil},
		"node gone, not planned": {"it is left out", noClaim, []*corev1.Pod{lost(owned)}, nil, nil, nil},
		"node gone, ending":      {"its successor exists", initialized, []*corev1.Pod{lost(owned + `, deletionTimestamp: "2026-03-04T11:59:00Z"`)}, nil, nil, nil},
		"daemon":                 {"comes with its node", noClaim, []*corev1.Pod{onDeleting(`labels: {app: agent}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d-1, controller: true}]`, "")}, []bool{false}, []int32{0}, nil},
		"bare pod":               {"nothing makes it again", noClaim, []*corev1.Pod{onDeleting(`labels: {a: b}`, "")}, []bool{false}, []int32{0}, nil},
		"other scheduler":        {"what follows needs a place, whichever scheduler binds it", noClaim, []*corev1.Pod{onDeleting(owned, "schedulerName: mine,")}, []bool{true}, []int32{0}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Inputs{Time: noon, Live: true, DaemonSets: []*appsv1.DaemonSet{agent(t)}, Catalogs: map[string]model.Catalog{"default": testCatalog()}, Pods: tc.pods}
			for i, p := range in.Pods {
				p.UID = types.UID(fmt.Sprint(i))
			}
			node := func(name string) *corev1.Node {
				return parse[corev1.Node](t, fmt.Sprintf(`{metadata: {name: %s}, status: {allocatable: {cpu: "2", pods: "10"}}}`, name))
			}
			in.Nodes = []*corev1.Node{node("going")}
			in.NodeClaims = []*karpv1.NodeClaim{claim(t, "old", `{metadata: {deletionTimestamp: "2026-03-04T11:59:00Z"}, spec: {}, status: {nodeName: going}}`)}
			if tc.claim != noClaim {
				in.NodeClaims = append(in.NodeClaims, claim(t, "coming", tc.claim))
				if tc.claim != inFlight {
					in.Nodes = append(in.Nodes, node("coming"))
				}
			}
			s, _ := Build(in)
			if diff := cmp.Diff(tc.moves, s.Moves); diff != "" {
				t.Errorf("%s: moves, -want +got\n%s", tc.reason, diff)
			}
			if len(s.Pods) != len(tc.needs) {
				t.Fatalf("%s: %d pods, want %d", tc.reason, len(s.Pods), len(tc.needs))
			}
			for i := range s.Pods {
				if got := s.NeedsPlace(&s.Pods[i]); got != tc.needs[i] || s.Pods[i].Node != tc.nodes[i] {
					t.Errorf("%s: %s needs a place: %v, want %v; is on %d, want %d", tc.reason, s.Pods[i].Name, got, tc.needs[i], s.Pods[i].Node, tc.nodes[i])
				}
			}
		})
	}
}

// TestMovesToReplacements: a pod stays on its node until the node is deleted, and its
// place on the replacement is listed in Moves.
func TestMovesToReplacements(t *testing.T) {
	mark := `{metadata: {annotations: {spokeshave.dev/disruption: '{"id":"x","nodes":["a"],"replacements":["b"]}'}}, spec: {}, status: {nodeName: a}}`
	replacement := `{metadata: {annotations: {spokeshave.dev/planned-pods: '["shop/stays", "shop/web", "shop/waits", "shop/daemon"]'}}, spec: {}}`
	pod := func(name, kind, at string) *corev1.Pod {
		status := ""
		if at == "" {
			status = `, status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}`
		}
		return parse[corev1.Pod](t, fmt.Sprintf(`{metadata: {name: %s, namespace: shop, uid: %s, labels: {app: agent}, ownerReferences: [{apiVersion: apps/v1, kind: %s, name: agent, uid: d-1, controller: true}]},
			spec: {nodeName: %q, containers: [{name: a, resources: {requests: {cpu: 100m}}}]}%s}`, name, name, kind, at, status))
	}
	node := func(name string) *corev1.Node {
		return parse[corev1.Node](t, fmt.Sprintf(`{metadata: {name: %s}, status: {allocatable: {cpu: "2", pods: "10"}}}`, name))
	}
	s, _ := Build(Inputs{
		Time: noon, Live: true, Catalogs: map[string]model.Catalog{"default": testCatalog()},
		DaemonSets: []*appsv1.DaemonSet{agent(t)},
		Nodes:      []*corev1.Node{node("a"), node("c")},
		NodeClaims: []*karpv1.NodeClaim{claim(t, "a", mark), claim(t, "b", replacement), claim(t, "c", `{spec: {}, status: {nodeName: c}}`)},
		Pods:       []*corev1.Pod{pod("daemon", "DaemonSet", "a"), pod("new", "ReplicaSet", "a"), pod("stays", "ReplicaSet", "c"), pod("waits", "ReplicaSet", ""), pod("web", "ReplicaSet", "a")},
	})
	const a, b, web, waits = 0, 1, 4, 3
	want := []model.Move{{Pod: waits, From: -1, To: b}, {Pod: web, From: a, To: b}}
	if diff := cmp.Diff(want, s.Moves); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if s.Pods[web].Node != a {
		t.Errorf("the pod counts on node %d while its own stays", s.Pods[web].Node)
	}
}

// agent is a DaemonSet.
func agent(t *testing.T) *appsv1.DaemonSet {
	t.Helper()
	return parse[appsv1.DaemonSet](t, `{metadata: {namespace: shop, name: agent, uid: d-1}, spec: {selector: {matchLabels: {app: agent}}}}`)
}
