package repair

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

var start = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func node(pool string, conditions ...corev1.NodeCondition) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{karpv1.LabelNodePool: pool, karpv1.LabelInitialized: "true"}},
		Status:     corev1.NodeStatus{Conditions: conditions},
	}
}

func since(kind corev1.NodeConditionType, status corev1.ConditionStatus, after time.Duration) corev1.NodeCondition {
	return corev1.NodeCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(start.Add(after))}
}

func TestDiagnose(t *testing.T) {
	for name, tc := range map[string]struct {
		reason     string
		conditions []corev1.NodeCondition
		due        time.Duration // after start; negative for a node that is well
	}{
		"well":        {reason: "a ready node is well", conditions: []corev1.NodeCondition{since(corev1.NodeReady, corev1.ConditionTrue, 0)}, due: -1},
		"nothing":     {reason: "a node that says nothing is not judged", due: -1},
		"pressure":    {reason: "pressure is kubelet's to relieve", conditions: []corev1.NodeCondition{since(corev1.NodeMemoryPressure, corev1.ConditionTrue, 0)}, due: -1},
		"not ready":   {reason: "half an hour to recover", conditions: []corev1.NodeCondition{since(corev1.NodeReady, corev1.ConditionFalse, 0)}, due: 30 * time.Minute},
		"silent":      {reason: "kubelet does not answer", conditions: []corev1.NodeCondition{since(corev1.NodeReady, corev1.ConditionUnknown, time.Minute)}, due: 31 * time.Minute},
		"accelerator": {reason: "broken hardware does not recover", conditions: []corev1.NodeCondition{since("AcceleratedHardwareReady", corev1.ConditionFalse, 0)}, due: 10 * time.Minute},
		"storage":     {reason: "the agent's conditions", conditions: []corev1.NodeCondition{since("StorageReady", corev1.ConditionFalse, 0)}, due: 30 * time.Minute},
		"unknown":     {reason: "an agent that is not sure has not found anything", conditions: []corev1.NodeCondition{since("KernelReady", corev1.ConditionUnknown, 0)}, due: -1},
		"the first": {reason: "the patience that ends first counts", conditions: []corev1.NodeCondition{
			since("NetworkingReady", corev1.ConditionFalse, 0), since("AcceleratedHardwareReady", corev1.ConditionFalse, 15*time.Minute),
		}, due: 25 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			n := node("general", tc.conditions...)
			switch got := diagnose(&n, Policies()); {
			case (got != nil) != (tc.due >= 0):
				t.Errorf("%s: found %+v", tc.reason, got)
			case got != nil && got.due().Sub(start) != tc.due:
				t.Errorf("%s: due after %s, want %s", tc.reason, got.due().Sub(start), tc.due)
			}
		})
	}
}

func TestBreaker(t *testing.T) {
	bad := since(corev1.NodeReady, corev1.ConditionFalse, 0)
	fleet := func(pool string, n, broken int) []corev1.Node {
		var out []corev1.Node
		for i := range n {
			if i < broken {
				out = append(out, node(pool, bad))
				continue
			}
			out = append(out, node(pool))
		}
		return out
	}
	starting := func() corev1.Node {
		n := node("a", bad)
		delete(n.Labels, karpv1.LabelInitialized)
		return n
	}()
	for name, tc := range map[string]struct {
		reason  string
		nodes   []corev1.Node
		after   time.Duration
		blocked string
	}{
		"one of one":     {reason: "the share is rounded up", nodes: fleet("a", 1, 1)},
		"one of five":    {reason: "20 %", nodes: fleet("a", 5, 1)},
		"two of five":    {reason: "more than 20 %", nodes: fleet("a", 5, 2), blocked: "2 of the 5 nodes of NodePool a"},
		"two of six":     {reason: "20 % of six, rounded up", nodes: fleet("a", 6, 2)},
		"another pool":   {reason: "what breaks another pool blocks no repair in this one", nodes: append(fleet("a", 1, 1), fleet("b", 9, 3)...)},
		"large cluster":  {reason: "a pool that is broken is spared in a large cluster", nodes: append(fleet("a", 4, 2), fleet("b", 96, 0)...), blocked: "2 of the 4 nodes of NodePool a"},
		"not ours":       {reason: "nodes of others count neither way", nodes: append(fleet("a", 1, 1), fleet("", 50, 50)...)},
		"starting":       {reason: "a node that starts is not broken", nodes: append(fleet("a", 4, 1), starting)},
		"never starting": {reason: "one that never starts is", nodes: append(fleet("a", 4, 1), starting), after: time.Hour, blocked: "2 of the 5 nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			got := blocked(tc.nodes, "a", Policies(), start.Add(tc.after))
			if (got == "") != (tc.blocked == "") || !strings.Contains(got, tc.blocked) {
				t.Errorf("%s: %s, want %s", tc.reason, orNothing(got), orNothing(tc.blocked))
			}
		})
	}
}

func orNothing(s string) string {
	if s == "" {
		return "nothing in the way"
	}
	return fmt.Sprintf("%q", s)
}
