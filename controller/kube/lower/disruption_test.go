package lower

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

func TestPodBudget(t *testing.T) {
	always := policyv1.AlwaysAllow
	cases := map[string]struct {
		reason string
		spec   policyv1.PodDisruptionBudgetSpec
		status policyv1.PodDisruptionBudgetStatus
		want   model.PodBudget
	}{
		"none left": {
			reason: "what the controller counted is what may go",
			spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 2, DesiredHealthy: 3, CurrentHealthy: 2},
			want: model.PodBudget{Selector: model.PodSelector{Labels: []model.Requirement{
				{Key: "app", Operator: model.In, Values: []string{"db"}},
			}}},
		},
		"healthy enough": {
			reason: "an unready pod that the count does not need may go",
			spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 2, DesiredHealthy: 3, CurrentHealthy: 3},
			want:   model.PodBudget{FreesUnready: true},
		},
		"always": {
			reason: "AlwaysAllow frees unready pods whatever is healthy",
			spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}, UnhealthyPodEvictionPolicy: &always},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 2, DesiredHealthy: 3, DisruptionsAllowed: 1},
			want:   model.PodBudget{Allowed: 1, FreesUnready: true},
		},
		"not counted": {
			reason: "a budget that was just changed allows nothing until it is counted",
			spec:   policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}},
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 5},
		},
		"no selector": {
			reason: "an absent selector selects nothing",
			status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 2},
			want:   model.PodBudget{Selector: model.PodSelector{Nothing: true}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pdb", Generation: 2}, Spec: tc.spec, Status: tc.status}
			tc.want.Namespace, tc.want.Name, tc.want.Selector.Namespaces = "shop", "pdb", []string{"shop"}
			if diff := cmp.Diff(tc.want, podBudget(pdb)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDisruptable(t *testing.T) {
	born := metav1.NewTime(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	claim := &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "c", CreationTimestamp: born, Annotations: map[string]string{
			karpv1.AnnotationDisruption:   `{"id":"x","method":"Drifted","nodes":["c"],"replacements":["d"],"started":"2026-03-02T00:00:00Z"}`,
			karpv1.AnnotationReplaces:     "a,b",
			karpv1.AnnotationForMovedPods: "true",
		}},
		Spec: karpv1.NodeClaimSpec{ExpireAfter: "24h", TerminationGracePeriod: &karpv1.Duration{Duration: time.Hour}},
		Status: karpv1.NodeClaimStatus{Conditions: []metav1.Condition{
			{Type: karpv1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: karpv1.DriftNodePool},
			{Type: karpv1.ConditionInitialized, Status: metav1.ConditionTrue, LastTransitionTime: born},
		}},
	}
	got := Node(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n"},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}},
	}, claim, born.Add(time.Hour))
	want := model.Node{
		Drifted: karpv1.DriftNodePool, NotReady: true, InitializedAt: born.UTC(), ExpiresAt: born.Add(24 * time.Hour).UTC(),
		TerminationGrace: time.Hour, Replaces: []string{"a", "b"}, ForMoved: true,
		Command: &model.Command{ID: "x", Method: "Drifted", Nodes: []string{"c"}, Replacements: []string{"d"}, Started: born.Add(24 * time.Hour).UTC()},
	}
	have := model.Node{
		Drifted: got.Drifted, NotReady: got.NotReady, InitializedAt: got.InitializedAt, ExpiresAt: got.ExpiresAt,
		TerminationGrace: got.TerminationGrace, Replaces: got.Replaces, ForMoved: got.ForMoved, Command: got.Command,
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	claim.Annotations[karpv1.AnnotationDisruption] = "{"
	if got := Node(nil, claim, born.Time); got.Command == nil || len(got.Command.Nodes) != 0 {
		t.Errorf("an unreadable command must be one to take back, got %+v", got.Command)
	}
}

// TestNoticed: an instance that EC2 reclaims stops to count against spending limits at
// its notice.
func TestNoticed(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, end   string
		deleted, want bool
	}{
		"soon":    {"it is gone in less than two minutes", "2026-03-04T12:01:50Z", true, true},
		"block":   {"a capacity block ends in ten minutes", "2026-03-04T12:10:00Z", true, true},
		"far":     {"what ends in an hour is paid for until then", "2026-03-04T13:00:00Z", true, false},
		"overdue": {"EC2 did not do as it said: it runs, and is billed", "2026-03-04T11:58:00Z", true, false},
		"no time": {"a condition and Karpenter's annotation are anybody's to write", "", true, false},
		"stays":   {"a claim that is not deleted goes nowhere", "2026-03-04T12:01:50Z", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := claim(t, "a", `{spec: {}, status: {conditions: [{type: DisruptionReason, status: "True", reason: SpotInterrupted}]}}`)
			c.Annotations = map[string]string{karpv1.AnnotationTerminationTimestamp: "2026-03-04T12:01:50Z", karpv1.AnnotationInterrupted: tc.end}
			if tc.deleted {
				c.DeletionTimestamp = &metav1.Time{Time: noon}
			}
			if n := Node(nil, c, noon); n.Noticed != tc.want {
				t.Errorf("%s: noticed is %v", tc.reason, n.Noticed)
			}
		})
	}
}

// TestBudgetBase: percentages are of initialized nodes whose instances run on.
func TestBudgetBase(t *testing.T) {
	const initialized, terminating = `{type: Initialized, status: "True"}`, `, {type: InstanceTerminating, status: "True"}`
	node := func(i int, conditions string, deleted bool) *karpv1.NodeClaim {
		c := claim(t, fmt.Sprintf("c%d", i), `{spec: {}, status: {conditions: [`+conditions+`], nodeName: `+fmt.Sprintf("n%d", i)+`}}`)
		if deleted {
			c.DeletionTimestamp = &metav1.Time{Time: noon}
		}
		return c
	}
	for name, tc := range map[string]struct {
		reason string
		claims []*karpv1.NodeClaim
		want   int // half of the nodes, rounded up, less those that leave
	}{
		"initialized": {"all count", []*karpv1.NodeClaim{node(0, initialized, false), node(1, initialized, false), node(2, initialized, false)}, 2},
		"starting":    {"a node that starts does not count", []*karpv1.NodeClaim{node(0, initialized, false), node(1, initialized, false), node(2, "", false)}, 1},
		"leaving":     {"a node that drains counts, as disrupted", []*karpv1.NodeClaim{node(0, initialized, false), node(1, initialized, false), node(2, initialized, true)}, 1},
		"terminating": {"one whose instance ends does not count", []*karpv1.NodeClaim{node(0, initialized, false), node(1, initialized, false), node(2, initialized+terminating, true)}, 1},
		"never was":   {"one that is given up before it was initialized neither", []*karpv1.NodeClaim{node(0, initialized, false), node(1, initialized, false), node(2, "", true)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			pool := parse[karpv1.NodePool](t, poolYAML)
			pool.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "50%"}}
			in := Inputs{Time: noon, NodePools: []*karpv1.NodePool{pool}, NodeClaims: tc.claims, Catalogs: map[string]model.Catalog{"default": testCatalog()}}
			for i := range tc.claims {
				in.Nodes = append(in.Nodes, parse[corev1.Node](t, fmt.Sprintf(`{metadata: {name: n%d}, status: {conditions: [{type: Ready, status: "True"}]}}`, i)))
			}
			s, _ := Build(in)
			if got := s.Pools[0].Disruption.AllowedEmpty; got != tc.want {
				t.Errorf("%s: %d may go, want %d", tc.reason, got, tc.want)
			}
		})
	}
}
