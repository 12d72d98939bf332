package lower

import (
	"cmp"
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// TestOwners: a pod belongs to its node if its owner exists and is what the reference
// says. Any other pod is an ordinary one, whatever it says of itself.
func TestOwners(t *testing.T) {
	type seen struct {
		Waits, Daemon bool
		Workload      string
	}
	const daemonSet, static = `{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d-1, controller: true}`, `{apiVersion: v1, kind: Node, name: ip-1, uid: n-1, controller: true}`
	for name, tc := range map[string]struct {
		reason string
		owner  string
		node   string // where the pod is; "" for pending
		meta   string // besides; "" for what the DaemonSet selects, and the kubelet's annotation
		files  bool   // not a live cluster
		want   *seen  // nil for a pod that the snapshot leaves out
	}{
		"daemon":          {reason: "the DaemonSet exists", owner: daemonSet, node: "ip-1", want: &seen{Daemon: true, Workload: "DaemonSet/agent"}},
		"daemon, pending": {reason: "its node exists: it needs none", owner: daemonSet},
		"static":          {reason: "the node exists, and is the pod's own", owner: static, node: "ip-1", want: &seen{Daemon: true, Workload: "Node/ip-1"}},
		"kept mirror":     {reason: "the kubelet wants it deleted, and a finalizer keeps it", owner: static, node: "ip-1", meta: `annotations: {kubernetes.io/config.mirror: x}, deletionTimestamp: "2026-03-04T11:00:00Z", finalizers: [a/b]`, want: &seen{}},
		"not selected":    {reason: "a DaemonSet disowns what it does not select", owner: daemonSet, node: "ip-1", meta: `labels: {app: other}`, want: &seen{}},
		"not a mirror":    {reason: "no kubelet has made it, and it runs", owner: static, node: "ip-1", meta: `labels: {app: agent}`, want: &seen{}},
		"no such set":     {reason: "nobody knows of it", owner: `{apiVersion: apps/v1, kind: DaemonSet, name: other, uid: d-1, controller: true}`, node: "ip-1", want: &seen{}},
		"another UID":     {reason: "a name is easily guessed", owner: `{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d-2, controller: true}`, node: "ip-1", want: &seen{}},
		"no UID":          {reason: "the API server lets no reference pass without one", owner: `{apiVersion: apps/v1, kind: DaemonSet, name: agent, controller: true}`, node: "ip-1", want: &seen{}},
		"another group":   {reason: "a custom resource may be called DaemonSet", owner: `{apiVersion: evil.example/v1, kind: DaemonSet, name: agent, uid: d-1, controller: true}`, node: "ip-1", want: &seen{}},
		"another space":   {reason: "owners live in the namespace of what they own", owner: `{apiVersion: apps/v1, kind: DaemonSet, name: proxy, uid: d-9, controller: true}`, node: "ip-1", want: &seen{}},
		"another node":    {reason: "a static pod's node is the one that it is on", owner: `{apiVersion: v1, kind: Node, name: ip-2, uid: n-2, controller: true}`, node: "ip-1", want: &seen{}},
		"an old node":     {reason: "of the same name", owner: `{apiVersion: v1, kind: Node, name: ip-1, uid: n-0, controller: true}`, node: "ip-1", want: &seen{}},
		"pending":         {reason: "who passes for a DaemonSet's waits like all others", owner: `{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d-2, controller: true}`, want: &seen{Waits: true}},
		"static, pending": {reason: "a static pod is born on its node", owner: static, want: &seen{Waits: true}},
		"from files":      {reason: "manifests need not have the owners", owner: `{kind: DaemonSet, name: other, controller: true}`, node: "ip-1", files: true, want: &seen{Daemon: true, Workload: "DaemonSet/other"}},
	} {
		t.Run(name, func(t *testing.T) {
			meta := cmp.Or(tc.meta, `labels: {app: agent}, annotations: {kubernetes.io/config.mirror: 5f4dcc3b}`)
			pod := parse[corev1.Pod](t, fmt.Sprintf(`{metadata: {namespace: shop, name: p, %s, ownerReferences: [%s]}, spec: {nodeName: %q, containers: [{name: c}]},
				status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`, meta, tc.owner, tc.node))
			node := func(name, uid string) *corev1.Node {
				return parse[corev1.Node](t, fmt.Sprintf(`{metadata: {name: %s, uid: %s}, status: {allocatable: {pods: "10", cpu: "4"}}}`, name, uid))
			}
			s, _ := Build(Inputs{
				Time: noon, Live: !tc.files, Pods: []*corev1.Pod{pod}, Nodes: []*corev1.Node{node("ip-1", "n-1"), node("ip-2", "n-2")},
				DaemonSets: []*appsv1.DaemonSet{
					agent(t),
					parse[appsv1.DaemonSet](t, `{metadata: {namespace: kube-system, name: proxy, uid: d-9}}`),
				},
			})
			var got *seen
			if len(s.Pods) == 1 {
				got = &seen{Waits: s.Pods[0].Node < 0, Daemon: s.Pods[0].Daemon, Workload: s.Pods[0].Workload}
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSurplus: two pods of a DaemonSet are free on a node, as an update may run. Who makes more of
// them, which take a year to end, pays for them.
func TestSurplus(t *testing.T) {
	var pods []*corev1.Pod
	pod := func(name, node, more string, minute int) {
		pods = append(pods, parse[corev1.Pod](t, fmt.Sprintf(`{metadata: {namespace: shop, name: %s, uid: %s, labels: {app: agent}, creationTimestamp: "2026-03-04T11:%02d:00Z"%s,
			ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d-1, controller: true}]}, spec: {nodeName: %s, containers: [{name: c}]}, status: {phase: Running}}`, name, name, minute, more, node)))
	}
	pod("third", "ip-1", "", 3)
	pod("first", "ip-1", `, deletionTimestamp: "2027-03-04T11:00:00Z"`, 1)
	pod("second", "ip-1", "", 2)
	pod("elsewhere", "ip-2", "", 4)
	node := func(name string) *corev1.Node {
		return parse[corev1.Node](t, fmt.Sprintf(`{metadata: {name: %s, uid: %s}, status: {allocatable: {pods: "10", cpu: "4"}}}`, name, name))
	}
	s, _ := Build(Inputs{Time: noon, Live: true, Pods: pods, Nodes: []*corev1.Node{node("ip-1"), node("ip-2")}, DaemonSets: []*appsv1.DaemonSet{agent(t)}})
	got := map[string]bool{}
	for i := range s.Pods {
		got[s.Pods[i].Name] = s.Pods[i].Daemon
	}
	if diff := gocmp.Diff(map[string]bool{"first": false, "second": true, "third": true, "elsewhere": true}, got); diff != "" {
		t.Errorf("whether they belong to their node: -want +got\n%s", diff)
	}
}
