package lower

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

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
		"other scheduler": {"spec: {schedulerName: mine}\n" + unschedulable, true, true},
		"other, untried":  {"spec: {schedulerName: mine}", true, false},
		"terminating":     {"metadata: {deletionTimestamp: \"2026-03-04T11:00:00Z\"}\n" + unschedulable, false, false},
		"done":            {`status: {phase: Succeeded}`, false, false},
		"daemon":          {"metadata: {ownerReferences: [{kind: DaemonSet, controller: true}]}\n" + unschedulable, false, false},
		"mirror":          {"metadata: {ownerReferences: [{kind: Node, controller: true}]}\n" + unschedulable, false, false},
	} {
		pod := parse[corev1.Pod](t, tc.pod)
		if got := []bool{IsWaiting(pod, false), IsWaiting(pod, true)}; !slices.Equal(got, []bool{tc.fresh, tc.tried}) {
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
	if got := state(`{type: Initialized, status: "True", lastTransitionTime: "2026-03-04T11:59:00Z"}`); !slices.Equal(got, []int32{-1, 0, 0, -1}) {
		t.Errorf("pods that did not land count again, but for those the caller or the scheduler vouches for: pods on %v", got)
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
		{Object: "NodePool general", Message: "launches nothing: EC2NodeClass default: no subnets"},
		{Object: "Node gone", Message: "does not exist; its 1 pods are left out"},
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
