package lower

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/model"
)

// TestPreempting: a pod for which the scheduler ends others needs no new node.
func TestPreempting(t *testing.T) {
	pod := func(name, priority, cpu, meta, at, status string) string {
		return fmt.Sprintf(`{metadata: {name: %s, namespace: shop, %s}, spec: {priority: %s, nodeName: %q, containers: [{name: a, resources: {requests: {cpu: %q}}}]}, status: {%s}}`,
			name, meta, priority, at, cpu, status)
	}
	const (
		ending    = `deletionTimestamp: "2026-03-04T11:59:50Z"`
		nominated = `nominatedNodeName: ip-1, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]`
		elsewhere = `nominatedNodeName: gone, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]`
	)
	cases := map[string]struct {
		reason string
		pods   []string
		node   int32
	}{
		"victims end": {
			"their room is the pod's", []string{pod("a", "9", "3", "", "", nominated), pod("b", "1", "3", ending, "ip-1", "")}, 0,
		},
		"victims to be": {
			"the scheduler nominates before it ends them", []string{pod("a", "9", "3", "", "", nominated), pod("b", "1", "3", "", "ip-1", "")}, 0,
		},
		"victims gone": {
			"the scheduler is about to bind it", []string{pod("a", "9", "3", "", "", nominated)}, 0,
		},
		"room taken": {
			"by a pod that it cannot preempt", []string{pod("a", "9", "3", "", "", nominated), pod("b", "9", "3", "", "ip-1", "")}, -1,
		},
		"room given twice": {
			"the second pod waits", []string{pod("c", "9", "3", "", "", nominated), pod("a", "9", "3", "", "", nominated), pod("b", "1", "3", ending, "ip-1", "")}, 0,
		},
		"no such node": {
			"a nomination to a node that is gone is none", []string{pod("a", "9", "3", "", "", elsewhere)}, -1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Inputs{Time: noon, Live: true, Nodes: []*corev1.Node{parse[corev1.Node](t, `{metadata: {name: ip-1}, status: {allocatable: {cpu: "4", pods: "10"}}}`)}}
			for _, text := range tc.pods {
				in.Pods = append(in.Pods, parse[corev1.Pod](t, text))
			}
			s, _ := Build(in)
			waits := 0
			for i := range s.Pods {
				if p := &s.Pods[i]; p.Name == "a" && (p.Node != tc.node || s.NeedsPlace(p) != (tc.node < 0)) {
					t.Errorf("%s: on %d, want %d; needs a place: %v", tc.reason, p.Node, tc.node, s.NeedsPlace(p))
				}
				if s.NeedsPlace(&s.Pods[i]) {
					waits++
				}
			}
			if name == "room given twice" && waits != 1 {
				t.Errorf("%s: %d pods wait", tc.reason, waits)
			}
			if s.Nodes[0].State != model.Unmanaged || s.Nodes[0].Nominated != (tc.node == 0) {
				t.Errorf("%s: the node is %s, nominated: %v", tc.reason, s.Nodes[0].State, s.Nodes[0].Nominated)
			}
		})
	}
}
