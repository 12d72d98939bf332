package lower

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

func TestPool(t *testing.T) {
	np := parse[karpv1.NodePool](t, `
metadata: {name: general, labels: {team: a}}
spec:
  weight: 5
  limits: {cpu: "100", nodes: "7"}
  disruption: {consolidateAfter: 30s}
  template:
    metadata: {labels: {tier: web}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      taints: [{key: t, value: v, effect: NoSchedule}]
      startupTaints: [{key: s, effect: NoExecute}]
      requirements:
      - {key: beta.kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: karpenter.k8s.aws/instance-cpu, operator: Gte, values: ["4"], minValues: 2}
`)
	want := model.Pool{
		Name: "general", Labels: map[string]string{"team": "a"}, Weight: 5, NodeClass: "default", Catalog: -1,
		Limits:     model.Resources{"cpu": 100_000, "nodes": 7},
		NodeLabels: map[string]string{"tier": "web"},
		Taints:     []model.Taint{{Key: "t", Value: "v", Effect: model.NoSchedule}}, StartupTaints: []model.Taint{{Key: "s", Effect: model.NoExecute}},
		Requirements: []model.Requirement{
			{Key: "kubernetes.io/arch", Operator: model.In, Values: []string{"amd64"}},
			{Key: "karpenter.k8s.aws/instance-cpu", Operator: model.Gte, Values: []string{"4"}, MinValues: 2},
		},
		Disruption: model.Disruption{ConsolidateAfter: 30 * time.Second, Policy: "WhenEmptyOrUnderutilized"},
	}
	if diff := cmp.Diff(want, Pool(np)); diff != "" {
		t.Error(diff)
	}
}

func TestNotReady(t *testing.T) {
	const ref = `nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}`
	for name, tc := range map[string]struct{ spec, want string }{
		"ready":        {`{template: {spec: {` + ref + `, requirements: []}}}`, ""},
		"static":       {`{replicas: 3, template: {spec: {` + ref + `, requirements: []}}}`, ""},
		"other class":  {`{template: {spec: {nodeClassRef: {group: x.y, kind: Z, name: d}, requirements: []}}}`, "nodeClassRef names Z.x.y: want EC2NodeClass.karpenter.k8s.aws"},
		"no values":    {`{template: {spec: {` + ref + `, requirements: [{key: a, operator: In}]}}}`, "spec.template.spec.requirements[0]: a: operator In needs values"},
		"operator":     {`{template: {spec: {` + ref + `, requirements: [{key: a, operator: in}]}}}`, `spec.template.spec.requirements[0]: a: unknown operator "in"`},
		"not a number": {`{template: {spec: {` + ref + `, requirements: [{key: a, operator: Lte, values: [x]}]}}}`, `spec.template.spec.requirements[0]: a: operator Lte needs an integer that is not negative, not "x"`},
		"minValues":    {`{template: {spec: {` + ref + `, requirements: [{key: a, operator: In, values: [x], minValues: 2}]}}}`, "spec.template.spec.requirements[0]: a: operator In needs at least minValues (2) values"},
		"limit":        {`{limits: {cpu: "1e1.5"}, template: {spec: {` + ref + `, requirements: []}}}`, "spec.limits.cpu: below zero, or no amount such as 100 or 512Gi"},
		"values":       {`{template: {spec: {` + ref + `, requirements: [{key: a, operator: Exists, values: [x]}]}}}`, "spec.template.spec.requirements[0]: a: operator Exists takes no values"},
	} {
		np := &karpv1.NodePool{Spec: *parse[karpv1.NodePoolSpec](t, tc.spec)}
		if got := Pool(np).NotReady; got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestBudgets(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 30, 0, 0, time.UTC) // a Wednesday
	for name, tc := range map[string]struct {
		reason  string
		spec    string
		nodes   int
		leaving int
		want    int
	}{
		"default":   {"10 %, rounded up", `{}`, 11, 0, 2},
		"leaving":   {"nodes on their way out count", `{}`, 11, 1, 1},
		"number":    {"an absolute number", `{budgets: [{nodes: "3"}]}`, 11, 0, 3},
		"tightest":  {"the smallest wins", `{budgets: [{nodes: "3"}, {nodes: "0"}]}`, 11, 0, 0},
		"reason":    {"a budget for other reasons does not count", `{budgets: [{nodes: "0", reasons: [Drifted]}]}`, 5, 0, 5},
		"active":    {"from 12:00 for an hour", `{budgets: [{nodes: "0", schedule: "0 12 * * *", duration: 1h}]}`, 5, 0, 0},
		"over":      {"ended at 12:30", `{budgets: [{nodes: "0", schedule: "0 12 * * *", duration: 30m}]}`, 5, 0, 5},
		"weekdays":  {"office hours", `{budgets: [{nodes: "0", schedule: "0 9 * * mon-fri", duration: 8h}]}`, 5, 0, 0},
		"weekend":   {"not on Sundays", `{budgets: [{nodes: "0", schedule: "0 0 * * 7", duration: 24h}]}`, 5, 0, 5},
		"overnight": {"from 22:00 yesterday for 16 hours", `{budgets: [{nodes: "0", schedule: "0 22 * * *", duration: 16h}]}`, 5, 0, 0},
		"several": {"of those active for the reason the tightest, less what goes", `{budgets: [
			{nodes: "50%"}, {nodes: "4", reasons: [Empty, Underutilized]}, {nodes: "0", reasons: [Drifted]}, {nodes: "1", schedule: "0 18 * * *", duration: 1h}]}`, 11, 1, 3},
		"macro":     {"@daily", `{budgets: [{nodes: "1", schedule: "@daily", duration: 24h}]}`, 5, 0, 1},
		"all":       {"100 %", `{budgets: [{nodes: "100%"}]}`, 5, 0, 5},
		"nonsense":  {"what cannot be read allows nothing", `{budgets: [{nodes: "many"}]}`, 5, 0, 0},
		"no budget": {"an empty list bounds nothing", `{budgets: []}`, 5, 0, 5},
	} {
		np := &karpv1.NodePool{}
		np.Spec.Disruption = *parse[karpv1.Disruption](t, tc.spec)
		got, err := allowedDisruptions(np, karpv1.DisruptionEmpty, now, tc.nodes, tc.leaving)
		if err != nil || got != tc.want {
			t.Errorf("%s: %s: got %d, %v, want %d", name, tc.reason, got, err, tc.want)
		}
	}
}
