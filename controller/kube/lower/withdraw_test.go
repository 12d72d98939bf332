package lower

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// TestWithdrawn: a pod that the scheduler will not bind where it is planned is planned
// again, and what is planned for it then is where it counts.
func TestWithdrawn(t *testing.T) {
	node := func(name, zone string) *corev1.Node {
		return parse[corev1.Node](t, fmt.Sprintf(`{metadata: {name: %s, labels: {topology.kubernetes.io/zone: %s}}, spec: {providerID: %[1]s},
			status: {allocatable: {cpu: "2", pods: "10"}, conditions: [{type: Ready, status: "True"}]}}`, name, zone))
	}
	// claim is made for the pod "waits", on a node that accepts pods since some seconds ago,
	// or has none yet.
	claim := func(name string, ago int, on string) *karpv1.NodeClaim {
		status := fmt.Sprintf(`nodeName: %s, providerID: %[1]s, conditions: [{type: Registered, status: "True"}, {type: Initialized, status: "True", lastTransitionTime: "2026-03-04T11:59:%02dZ"}]`, on, 60-ago)
		if on == "" {
			status = ""
		}
		return parse[karpv1.NodeClaim](t, fmt.Sprintf(`{metadata: {name: %s, labels: {karpenter.sh/nodepool: p}, annotations: {spokeshave.dev/planned-pods: '["shop/waits"]'}}, spec: {resources: {requests: {cpu: "2", pods: "10"}}}, status: {%s}}`, name, status))
	}
	pod := func(name, app, cpu, on string) *corev1.Pod {
		return parse[corev1.Pod](t, fmt.Sprintf(`{metadata: {name: %s, namespace: shop, labels: {app: %s}}, spec: {nodeName: %q, containers: [{name: a, resources: {requests: {cpu: %q}}}],
			topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: %[2]s}}}]},
			status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`, name, app, on, cpu))
	}
	for name, tc := range map[string]struct {
		reason string
		claims []*karpv1.NodeClaim
		pods   []*corev1.Pod
		// on names the node, or claim, of the pod "waits"; "" for none.
		on string
	}{
		"planned": {
			"its zone has as many as the other", []*karpv1.NodeClaim{claim("first", 5, "n-a")}, []*corev1.Pod{pod("x", "web", "1", "n-b")}, "n-a",
		},
		"skew": {
			"another pod of the Deployment was bound in its zone first", []*karpv1.NodeClaim{claim("first", 5, "n-a")}, []*corev1.Pod{pod("x", "web", "1", "n-a")}, "",
		},
		"in flight": {
			"until the node exists, the others may change", []*karpv1.NodeClaim{claim("first", 5, "")}, []*corev1.Pod{pod("x", "web", "1", "n-a")}, "first",
		},
		"again, in flight": {
			"it was planned anew, onto a node to come", []*karpv1.NodeClaim{claim("x", 5, "n-a"), claim("a", 0, "")}, []*corev1.Pod{pod("x", "web", "1", "n-a")}, "a",
		},
		"again, later": {
			"of two nodes, the later one is what was planned last", []*karpv1.NodeClaim{claim("x", 9, "n-a"), claim("a", 2, "n-b")}, []*corev1.Pod{pod("x", "web", "1", "n-a")}, "n-b",
		},
		"again, earlier": {
			"the later one has no room, the earlier one has", []*karpv1.NodeClaim{claim("x", 2, "n-a"), claim("a", 9, "n-b")}, []*corev1.Pod{pod("x", "api", "2", "n-a")}, "n-b",
		},
		"again, no room": {
			"a spread keeps it off the later node, and the earlier one has no room", []*karpv1.NodeClaim{claim("x", 2, "n-a"), claim("a", 9, "n-b")}, []*corev1.Pod{pod("x", "web", "1", "n-a"), pod("y", "api", "2", "n-b")}, "",
		},
		"nowhere": {
			"neither has room", []*karpv1.NodeClaim{claim("x", 2, "n-a"), claim("a", 9, "n-b")}, []*corev1.Pod{pod("x", "api", "2", "n-a"), pod("y", "api", "2", "n-b")}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := Inputs{Time: noon, Live: true, Nodes: []*corev1.Node{node("n-a", "a"), node("n-b", "b")}, NodeClaims: tc.claims, Pods: append(tc.pods, pod("waits", "web", "1", ""))}
			s, _ := Build(in)
			got := "no such pod"
			for i := range s.Pods {
				switch p := &s.Pods[i]; {
				case p.Name != "waits":
				case p.Node < 0:
					got = ""
				default:
					got = s.Nodes[p.Node].Name
					if !s.Nodes[p.Node].Nominated {
						t.Errorf("%s expects no pod", got)
					}
				}
			}
			if diff := cmp.Diff(tc.on, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
