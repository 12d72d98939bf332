package lower_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// unplannedClaim is a claim that a person wrote.
func unplannedClaim() *karpv1.NodeClaim {
	return &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "alone", Labels: map[string]string{"team": "tools"}},
		Spec: karpv1.NodeClaimSpec{
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.Kind, Name: "default"},
			Requirements: []karpv1.Requirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"zone-a"}}},
			Resources:    karpv1.ResourceRequirements{Requests: karpv1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}},
			Taints:       []corev1.Taint{{Key: "only", Value: "tools", Effect: corev1.TaintEffectNoSchedule}},
		},
	}
}

func TestIsUnplanned(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(*karpv1.NodeClaim)
		want   bool
	}{
		"written by a person": {reason: "nobody has chosen its options", change: func(*karpv1.NodeClaim) {}, want: true},
		"refused by EC2": {reason: "Karpenter tries again, and so does this controller", change: func(c *karpv1.NodeClaim) {
			c.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionLaunched, Status: metav1.ConditionUnknown, Reason: "Unauthorized"}}
		}, want: true},
		"launched": {reason: "it has an instance", change: func(c *karpv1.NodeClaim) { c.Status.ProviderID = "aws:///zone-a/i-1" }},
		"planned": {reason: "it has options", change: func(c *karpv1.NodeClaim) {
			c.Annotations = map[string]string{karpv1.AnnotationLaunch: "[]"}
		}},
		"another controller's": {reason: "it is of another kind of class", change: func(c *karpv1.NodeClaim) { c.Spec.NodeClassRef.Group = "eks.amazonaws.com" }},
		"deleted":              {reason: "it will not be launched", change: func(c *karpv1.NodeClaim) { c.DeletionTimestamp = new(metav1.Now()) }},
	} {
		t.Run(name, func(t *testing.T) {
			claim := unplannedClaim()
			tc.change(claim)
			if got := lower.IsUnplanned(claim); got != tc.want {
				t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// capped is a ceiling policy with a cap on the cluster, in $/h. It answers no other
// question.
type capped float64

func (c capped) Info() policy.Info {
	return policy.Info{Name: "budget", Hooks: []policy.Hook{policy.HookCeiling}}
}

func (c capped) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	return policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {HourlyUSD: new(float64(c))}}}, nil
}

func (c capped) Rank(context.Context, *policy.RankInput) ([]policy.RankAnswer, error) {
	return nil, errors.New("not asked")
}

func (c capped) Consolidate(context.Context, *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	return nil, errors.New("not asked")
}

// TestForClaim: an ordinary decision about the snapshot launches what the claim asks
// for, and nothing for pods.
func TestForClaim(t *testing.T) {
	large := instancetype.New("m5.xlarge", 4000, 16, 50, instancetype.OnDemand("zone-a", 200_000), instancetype.OnDemand("zone-b", 100_000))
	small := instancetype.New("m5.large", 2000, 8, 50, instancetype.OnDemand("zone-a", 100_000))
	dear := instancetype.New("m5.4xlarge", 16000, 64, 50, instancetype.OnDemand("zone-a", 900_000))
	for name, tc := range map[string]struct {
		reason   string
		change   func(*karpv1.NodeClaim)
		notReady string
		cap      float64
		want     string
	}{
		"fits": {reason: "2 CPUs do not fit on 2 CPUs less what the system takes, and zone-b is not allowed", change: func(*karpv1.NodeClaim) {}, want: "m5.xlarge zone-a"},
		"of a pool": {reason: "the pool is full, which its own claims have passed", change: func(c *karpv1.NodeClaim) {
			c.Labels[karpv1.LabelNodePool] = "general"
			c.Spec.Requirements = append(c.Spec.Requirements, karpv1.Requirement{Key: karpv1.LabelNodePool, Operator: corev1.NodeSelectorOpIn, Values: []string{"general"}})
		}, want: "m5.xlarge zone-a"},
		"nothing requested": {reason: "the cheapest node does", change: func(c *karpv1.NodeClaim) { c.Spec.Resources.Requests = nil }, want: "m5.large zone-a"},
		"capped":            {reason: "0.1 $/h run in flight, and 0.2 more are above the cap", change: func(*karpv1.NodeClaim) {}, cap: 0.25},
		"in money":          {reason: "0.1 and 0.2 $/h are below the cap", change: func(*karpv1.NodeClaim) {}, cap: 0.35, want: "m5.xlarge zone-a"},
		"too large": {reason: "no type has 100 CPUs", change: func(c *karpv1.NodeClaim) {
			c.Spec.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("100")
		}},
		"unknown class": {reason: "nothing is known of the class", change: func(c *karpv1.NodeClaim) { c.Spec.NodeClassRef.Name = "else" }, notReady: "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			claim := unplannedClaim()
			tc.change(claim)
			catalog := instancetype.Catalog(small, large, dear)
			catalog.NodeClass = "default"
			s := model.Snapshot{
				Catalogs: []model.Catalog{catalog},
				Pools:    []model.Pool{{Name: "general", NodeClass: "default", Limits: model.Resources{model.NodeCount: 0}, Usage: model.Resources{model.NodeCount: 5}}},
				Nodes:    []model.Node{{Name: claim.Name, Claim: claim.Name, State: model.InFlight, Pool: -1, Reserved: 1_000_000}, {Name: "other", Claim: "other", State: model.InFlight, Pool: 0, Reserved: 100_000}},
				Specs:    []model.PodSpec{{Namespace: "shop", Requests: model.Resources{model.CPU: 100, model.PodSlots: 1}}},
				Pods:     []model.Pod{{UID: "a", Namespace: "shop", Name: "waits", Node: -1}},
			}
			if tc.notReady == "" && small.Allocatable[model.CPU] >= 2000 { // the table's reason would be wrong
				s.Catalogs[0].Types[0].Allocatable = model.Resources{model.CPU: 1900, model.Memory: 7 << 30, model.PodSlots: 50}
			}
			untouched := len(s.Pods)
			asked := lower.ForClaim(&s, claim, tc.notReady)
			if err := asked.Verify(); err != nil {
				t.Fatal(err)
			}
			var policies []policy.Policy
			if tc.cap > 0 {
				policies = append(policies, capped(tc.cap))
			}
			d, err := decide.Decide(t.Context(), &asked, policies, decide.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i := range d.Plan.Nodes {
				o := d.Plan.Nodes[i].Options[0]
				got += o.InstanceType + " " + o.Zone
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if len(s.Pods) != untouched || s.Pods[0].Final || s.Nodes[0].Reserved == 0 || s.Pools[0].NotReady != "" {
				t.Error("the snapshot of the cluster was changed")
			}
		})
	}
}

// TestClaimReasons: the reason names what the claim's author wrote.
func TestClaimReasons(t *testing.T) {
	in := func(key string, values ...string) karpv1.Requirement {
		return karpv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	for name, tc := range map[string]struct {
		reqs []karpv1.Requirement
		want string
	}{
		"one label": {
			reqs: []karpv1.Requirement{in(corev1.LabelTopologyZone, "zone-a"), in(corev1.LabelTopologyZone, "zone-b")},
			want: "spec.requirements: the requirements on topology.kubernetes.io/zone have no value in common",
		},
		"several labels": {
			reqs: []karpv1.Requirement{in(corev1.LabelTopologyZone, "zone-a"), in(corev1.LabelArchStable, "arm64"), {Key: karpv1.LabelCapacityType, Operator: corev1.NodeSelectorOpExists}},
			want: "spec.requirements: no offering of the EC2NodeClass meets topology.kubernetes.io/zone In [zone-a], kubernetes.io/arch In [arm64], karpenter.sh/capacity-type Exists",
		},
	} {
		t.Run(name, func(t *testing.T) {
			claim := unplannedClaim()
			claim.Spec.Requirements = tc.reqs
			catalog := instancetype.Catalog(instancetype.New("m5.xlarge", 4000, 16, 50, instancetype.OnDemand("zone-a", 200_000), instancetype.OnDemand("zone-b", 100_000)))
			catalog.NodeClass = "default"
			asked := lower.ForClaim(&model.Snapshot{Catalogs: []model.Catalog{catalog}}, claim, "")
			d, err := decide.Decide(t.Context(), &asked, nil, decide.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := []model.Reason{{Code: model.RequirementsConflict, Message: tc.want}}
			if diff := cmp.Diff(want, lower.ClaimReasons(&asked, claim, &d.Plan)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
