package metric

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

const (
	claimCount   = "operator_nodeclaim_status_condition_count"
	claimSeconds = "operator_nodeclaim_status_condition_current_status_seconds"
	claimEnding  = "operator_nodeclaim_termination_current_time_seconds"
	nodeCount    = "operator_node_status_condition_count"
)

func conditionsAt(now time.Time) (claim *karpv1.NodeClaim, node *corev1.Node) {
	claim = &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", ResourceVersion: "1", Labels: map[string]string{
		karpv1.LabelNodePool: "general", "karpenter.k8s.aws/ec2nodeclass": "default",
	}}}
	claim.Status.Conditions = []metav1.Condition{{Type: "Launched", Status: metav1.ConditionUnknown, Reason: "Waiting", LastTransitionTime: metav1.NewTime(now.Add(-40 * time.Second))}}
	node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{karpv1.LabelNodePool: "general", karpv1.LabelInitialized: "true"}}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastTransitionTime: metav1.NewTime(now.Add(-time.Minute))}}
	return claim, node
}

// TestConditions: the gauges follow the objects, and what is gone has no series.
func TestConditions(t *testing.T) {
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	claim, node := conditionsAt(now)
	claims, leads := []client.Object{claim}, true
	reg := prometheus.NewPedanticRegistry()
	none := func() []client.Object { return nil }
	NewConditions(reg, nil, map[string]func() []client.Object{
		KindNodeClaim: func() []client.Object { return claims }, KindNode: func() []client.Object { return []client.Object{node} }, KindNodePool: none, KindEC2NodeClass: none,
	}, func() time.Time { return now }, func() bool { return leads })

	want := map[string]float64{
		claimCount + "{default,general,c,,Waiting,Unknown,Launched}":   1,
		claimSeconds + "{default,general,c,,Waiting,Unknown,Launched}": 40,
		nodeCount + "{,true,general,n,,KubeletReady,True,Ready}":       1,
	}
	if diff := cmp.Diff(want, figures(t, reg, claimCount, claimSeconds, claimEnding, nodeCount)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	deleted := metav1.NewTime(now.Add(-5 * time.Second))
	claim.DeletionTimestamp = &deleted
	if got := figures(t, reg, claimEnding); got[claimEnding+"{default,general,c,}"] != 5 {
		t.Errorf("a claim that was deleted 5 s ago: %v", got)
	}
	claims = nil
	if got := figures(t, reg, claimCount, claimSeconds, claimEnding); len(got) != 0 {
		t.Errorf("the claim is gone, and has series: %v", got)
	}
	if leads = false; len(figures(t, reg, nodeCount)) != 0 {
		t.Error("a replica that does not lead reports")
	}
}

// TestTransitions: changes of status are counted once, with the time that the old status
// lasted. Their series leave with the NodePool.
func TestTransitions(t *testing.T) {
	const total, seconds, ended = "operator_nodeclaim_status_condition_transitions_total", "operator_nodeclaim_status_condition_transition_seconds", "operator_nodeclaim_termination_duration_seconds"
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	reg := prometheus.NewRegistry()
	shared, err := NewReconcilers(reg)
	if err != nil {
		t.Fatal(err)
	}
	leads := false
	none := func() []client.Object { return nil }
	lists := map[string]func() []client.Object{KindNodeClaim: none, KindNodePool: none, KindEC2NodeClass: none, KindNode: none}
	c := NewConditions(reg, shared, lists, func() time.Time { return now }, func() bool { return leads })
	handler := c.Handler(KindNodeClaim)
	before, _ := conditionsAt(now)
	after := before.DeepCopy()
	after.ResourceVersion = "2"
	after.Status.Conditions[0].Status, after.Status.Conditions[0].Reason = metav1.ConditionTrue, "Launched"
	after.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now)
	after.Status.Conditions = append(after.Status.Conditions, metav1.Condition{Type: "Registered", Status: metav1.ConditionUnknown, Reason: "Waiting"})
	handler.OnUpdate(before, after)
	if leads = true; len(figures(t, reg, total)) != 0 {
		t.Error("a replica that did not lead counts")
	}
	handler.OnUpdate(before, after)
	handler.OnUpdate(after, after) // the cache is synced anew
	same := after.DeepCopy()
	same.ResourceVersion = "3"
	handler.OnUpdate(after, same) // something else has changed
	want := map[string]float64{
		total + "{default,general,Launched,True,Launched}":     1,
		total + "{default,general,Waiting,Unknown,Registered}": 1,
	}
	if diff := cmp.Diff(want, figures(t, reg, total)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	deleted := metav1.NewTime(now.Add(-5 * time.Second))
	same.DeletionTimestamp = &deleted
	handler.OnDelete(same)
	if n := seriesWith(t, reg, "karpenter_sh_nodepool", "general"); n != 4 {
		t.Errorf("%d series of the NodePool, want two transitions, a time (%s) and a termination (%s)", n, seconds, ended)
	}
	forget(shared.byPool(), prometheus.Labels{nodePool: "general"})
	if n := seriesWith(t, reg, "karpenter_sh_nodepool", "general"); n != 0 {
		t.Errorf("%d series stay after the NodePool", n)
	}
}
