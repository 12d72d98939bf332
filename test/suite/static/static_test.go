// Package static tests what is decided about static NodePools, from objects to
// plans and commands.
package static

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/test/kit/instancetype"
)

// hourly is a ceiling of so many dollars an hour on the cluster.
type hourly float64

func (hourly) Info() policy.Info {
	return policy.Info{Name: "budget", Hooks: []policy.Hook{policy.HookCeiling}}
}

func (hourly) Rank(context.Context, *policy.RankInput) ([]policy.RankAnswer, error) {
	return nil, policy.ErrNoOpinion
}

func (hourly) Consolidate(context.Context, *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	return nil, policy.ErrNoOpinion
}

func (h hourly) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	usd := float64(h)
	return policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {HourlyUSD: &usd}}}, nil
}

func now() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) }

func catalog() model.Catalog {
	c := instancetype.Catalog()
	for i, name := range []string{"m5.large", "m5.xlarge"} {
		c.Types = append(c.Types, instancetype.New(name, 2000<<i, 8<<i, 29, instancetype.OnDemand("a", 100_000<<i)))
	}
	return c
}

func pool(replicas int64) *karpv1.NodePool {
	p := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "fixed", UID: "fixed"}}
	p.Spec.Replicas = &replicas
	p.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.Kind, Name: "default"}
	p.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "example.com/reserved", Effect: corev1.TaintEffectNoSchedule}}
	p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "1"}}
	return p
}

// machines are initialized nodes of the pool with their claims.
func machines(in *lower.Inputs, n int) {
	for i := range n {
		name := fmt.Sprintf("fixed-%d", i)
		labels := map[string]string{
			karpv1.LabelNodePool: "fixed", corev1.LabelInstanceTypeStable: "m5.xlarge", corev1.LabelTopologyZone: "a", karpv1.LabelCapacityType: "on-demand",
		}
		old := metav1.NewTime(now().Add(-time.Hour))
		claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, CreationTimestamp: old}}
		for _, c := range []string{karpv1.ConditionLaunched, karpv1.ConditionRegistered, karpv1.ConditionInitialized} {
			claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, LastTransitionTime: old})
		}
		claim.Status.NodeName = name
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, CreationTimestamp: old}}
		node.Status.Allocatable = corev1.ResourceList{}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		in.NodeClaims, in.Nodes = append(in.NodeClaims, claim), append(in.Nodes, node)
	}
}

func TestStaticPool(t *testing.T) {
	gate := model.Settings{StaticCapacity: true}
	anywhere := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "anywhere", UID: "anywhere"},
		Spec:       corev1.PodSpec{Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, Containers: []corev1.Container{{Name: "main"}}},
	}
	for name, tc := range map[string]struct {
		reason   string
		in       func(*lower.Inputs)
		gate     model.Settings
		policies []policy.Policy
		launched int
		unplaced string // a part of the reason of what is not launched
		replaced int
	}{
		"from nothing": {reason: "as many as replicas", gate: gate, launched: 3, in: func(*lower.Inputs) {}},
		"gate off":     {reason: "a gate is a gate", in: func(*lower.Inputs) {}},
		"one lacks":    {reason: "nodes that are there count", gate: gate, launched: 1, in: func(in *lower.Inputs) { machines(in, 2) }},
		"complete":     {reason: "idle nodes of a static pool are not consolidated", gate: gate, in: func(in *lower.Inputs) { machines(in, 3) }},
		"one goes": {reason: "a node on its way out is replaced at once", gate: gate, launched: 1, in: func(in *lower.Inputs) {
			machines(in, 3)
			in.NodeClaims[1].DeletionTimestamp = new(metav1.NewTime(now()))
		}},
		"ceiling": {
			reason: "static pools pass the ceilings", gate: gate, launched: 2, unplaced: "budget", in: func(*lower.Inputs) {},
			policies: []policy.Policy{hourly(0.25)},
		},
		"limit": {reason: "limits.nodes bounds the pool", gate: gate, launched: 2, unplaced: "limit", in: func(in *lower.Inputs) {
			in.NodePools[0].Spec.Limits = karpv1.Limits{karpv1.LimitNodes: resource.MustParse("2")}
		}},
		"drifted at the limit": {reason: "limits.nodes counts the replacement as well", gate: gate, in: func(in *lower.Inputs) {
			machines(in, 3)
			in.NodePools[0].Spec.Limits = karpv1.Limits{karpv1.LimitNodes: resource.MustParse("3")}
			in.NodeClaims[0].Status.Conditions = append(in.NodeClaims[0].Status.Conditions, metav1.Condition{Type: karpv1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: karpv1.DriftNodePool})
		}},
		"drifted below the limit": {reason: "there is room for one beside them", gate: gate, replaced: 1, in: func(in *lower.Inputs) {
			machines(in, 3)
			in.NodePools[0].Spec.Limits = karpv1.Limits{karpv1.LimitNodes: resource.MustParse("4")}
			in.NodeClaims[0].Status.Conditions = append(in.NodeClaims[0].Status.Conditions, metav1.Condition{Type: karpv1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: karpv1.DriftNodePool})
		}},
		"pods": {reason: "no pod opens a node of the pool, whatever it tolerates", gate: gate, unplaced: "static", in: func(in *lower.Inputs) {
			machines(in, 3)
			in.Pods = append(in.Pods, anywhere)
		}},
		"drifted": {reason: "a drifted node gets its replacement first", gate: gate, replaced: 1, in: func(in *lower.Inputs) {
			machines(in, 3)
			for _, c := range in.NodeClaims[:2] { // of two, the budget lets one go
				c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: karpv1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: karpv1.DriftNodePool})
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in := lower.Inputs{
				Time: now(), Seed: 1, Settings: tc.gate, NodePools: []*karpv1.NodePool{pool(3)}, Catalogs: map[string]model.Catalog{"default": catalog()},
			}
			tc.in(&in)
			s, _ := lower.Build(in)
			d, err := decide.Decide(t.Context(), &s, tc.policies, decide.Options{Disrupt: true, Search: true})
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Plan.Nodes) != tc.launched {
				t.Errorf("%s: %d nodes launched, want %d", tc.reason, len(d.Plan.Nodes), tc.launched)
			}
			for i := range d.Plan.Nodes {
				if got := d.Plan.Nodes[i].Options[0].InstanceType; got != "m5.large" {
					t.Errorf("a %s is launched, which is not the cheapest", got)
				}
			}
			unplaced(t, &d, tc.unplaced)
			replaced := 0
			for i := range d.Commands {
				replaced += len(d.Commands[i].Replacements)
			}
			if replaced != tc.replaced || len(d.Commands) != tc.replaced {
				t.Errorf("%s: %d commands with %d replacements, want %d", tc.reason, len(d.Commands), replaced, tc.replaced)
			}
			for i := range d.Disruptions {
				if d.Disruptions[i].Go {
					t.Errorf("%s: node %s goes: %s", tc.reason, s.Nodes[d.Disruptions[i].Node].Name, d.Disruptions[i].Method)
				}
			}
		})
	}
}

func unplaced(t *testing.T, d *decide.Decision, part string) {
	t.Helper()
	var all []string
	for i := range d.Plan.Unplaced {
		for _, r := range d.Plan.Unplaced[i].Reasons {
			all = append(all, r.Message)
		}
	}
	if text := strings.Join(all, "; "); (part == "") != (text == "") || !strings.Contains(text, part) {
		t.Errorf("what is not placed: %q, want something of %q", text, part)
	}
}
