package decide

import (
	"cmp"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// TestShort: when a cap keeps pods waiting, consolidation of what it caps comes
// first, also while something is launched elsewhere; settings, budgets and
// policies keep their say.
func TestShort(t *testing.T) {
	deny := &scripted{
		info: policy.Info{Name: "guard", Hooks: []policy.Hook{policy.HookConsolidate}},
		consolidate: func(in *policy.ConsolidateInput) []policy.ConsolidateAnswer {
			out := make([]policy.ConsolidateAnswer, len(in.Candidates))
			for i := range out {
				out[i] = policy.ConsolidateAnswer{Verdict: policy.Deny, Reason: "not now"}
			}
			return out
		},
	}
	cases := map[string]struct {
		reason   string
		cap      string
		usd      float64 // 0.41 if not given
		change   func(*model.Snapshot)
		policies []policy.Policy
		short    []string
		goes     string
		retry    time.Duration
	}{
		"at once": {
			reason: "the pods of either node find room on the other, and what it costs is waited for",
			cap:    "nodepool/general", short: []string{"nodepool/general"}, goes: "one",
		},
		"namespace": {
			reason: "the share of a namespace is freed on any pool",
			cap:    "namespace/shop", usd: 0.2, short: []string{"namespace/shop"}, goes: "one",
		},
		"too soon": {
			reason: "consolidateAfter holds, and its end is when to look again",
			cap:    "nodepool/general", short: []string{"nodepool/general"}, retry: 30 * time.Minute,
			change: func(s *model.Snapshot) { s.Pools[0].Disruption.ConsolidateAfter = 90 * time.Minute },
		},
		"budget": {
			reason: "disruption budgets hold", cap: "nodepool/general", short: []string{"nodepool/general"},
			change: func(s *model.Snapshot) { s.Pools[0].Disruption.AllowedUnderutilized = 0 },
		},
		"policy":    {reason: "consolidate policies hold", cap: "nodepool/general", short: []string{"nodepool/general"}, policies: []policy.Policy{deny}},
		"elsewhere": {reason: "what is launched comes before what no pod waits for", cap: "nodepool/none"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := halfEmpty()
			if tc.change != nil {
				tc.change(s)
			}
			usd := cmp.Or(tc.usd, 0.41)
			d := decideOn(t, s, Options{Disrupt: true, Search: true},
				append(tc.policies, caps(map[string]policy.Cap{tc.cap: {HourlyUSD: &usd}}))...)
			if len(d.Plan.Nodes) == 0 {
				t.Fatalf("%s: nothing is launched, and so nothing competes: %+v", tc.reason, d.Plan)
			}
			if want := tc.short == nil; d.Postponed != want {
				t.Errorf("%s: the search is postponed: %v, want %v", tc.reason, d.Postponed, want)
			}
			goes, retry := "", time.Duration(0)
			for i := range d.Commands {
				for _, n := range d.Commands[i].Nodes {
					goes += s.Nodes[n].Name
				}
			}
			for i := range d.Disruptions {
				if at := d.Disruptions[i].RetryAt; !at.IsZero() {
					retry = at.Sub(s.Time)
				}
			}
			if diff := gocmp.Diff(tc.short, d.Short()); diff != "" || goes != tc.goes || retry != tc.retry {
				t.Errorf("%s: %q goes, want %q; look again after %s, want %s; short of money -want +got\n%s", tc.reason, goes, tc.goes, retry, tc.retry, diff)
			}
		})
	}
}

// halfEmpty has two nodes with a pod each, a pod that needs a third one in their
// pool, and another that gets one in a pool of its own.
func halfEmpty() *model.Snapshot {
	s := snapshot(4)
	other := s.Pools[0]
	other.Name, other.Labels, other.Taints = "other", nil, []model.Taint{{Key: "own", Effect: model.NoSchedule}}
	s.Pools[0].Disruption = model.Disruption{Policy: "WhenEmptyOrUnderutilized", AllowedUnderutilized: 1, AllowedEmpty: 1}
	s.Pools = append(s.Pools, other)
	big := s.Specs[0]
	big.Requests = model.Resources{model.CPU: 4000, model.Memory: 1 << 30, model.PodSlots: 1}
	own := big
	own.Namespace, own.Tolerations = "apart", []model.Toleration{{Key: "own", Exists: true}}
	own.NodeSelector = map[string]string{"karpenter.sh/nodepool": "other"}
	s.Specs = append(s.Specs, big, own)
	for _, name := range []string{"one", "two"} {
		s.Nodes = append(s.Nodes, model.Node{
			Name: name, Claim: name, State: model.Initialized, InstanceType: "m.large", Zone: "a", CapacityType: model.OnDemand, Price: 200_000,
			Allocatable: s.Catalogs[0].Types[0].Allocatable, LaunchedAt: s.Time.Add(-time.Hour), Labels: map[string]string{"topology.kubernetes.io/zone": "a"},
		})
	}
	s.Nodes[1].DoNotDisrupt = true
	s.Pods[0].Node, s.Pods[1].Node = 0, 1
	s.Pods[2].Spec, s.Pods[3].Spec = 1, 2
	s.Pods[3].Namespace = "apart"
	return s
}
