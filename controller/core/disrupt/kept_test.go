package disrupt

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/instancetype"
)

// spread3 has a Deployment of three small pods, each on a node of its own, which one node
// would have room for.
func spread3(now time.Time) *model.Snapshot {
	room := model.Resources{model.CPU: 2000, model.Memory: 1 << 30, model.PodSlots: 100}
	s := &model.Snapshot{
		Time:     now,
		Catalogs: []model.Catalog{instancetype.Catalog(instancetype.Of("small", room, instancetype.OnDemand("a", model.PriceOf(0.1)), instancetype.OnDemand("b", model.PriceOf(0.1)), instancetype.OnDemand("c", model.PriceOf(0.1))))},
		Pools:    []model.Pool{{Name: "general", NodeClass: "default"}},
		Specs: []model.PodSpec{{
			Namespace: "shop", Labels: map[string]string{"app": "web"},
			Requests: model.Resources{model.CPU: 300, model.Memory: 1 << 20, model.PodSlots: 1},
		}},
	}
	for _, zone := range []string{"a", "b", "c"} {
		s.Nodes = append(s.Nodes, model.Node{
			Name: "in-" + zone, Claim: "in-" + zone, State: model.Initialized, InstanceType: "small", Zone: zone, CapacityType: model.OnDemand,
			Price: model.PriceOf(0.1), Allocatable: room, Labels: map[string]string{"topology.kubernetes.io/zone": zone}, LaunchedAt: now.Add(-time.Hour),
		})
		s.Pods = append(s.Pods, model.Pod{UID: zone, Namespace: "shop", Name: "web-" + zone, Node: int32(len(s.Nodes) - 1)})
	}
	return s
}

// removed returns the nodes that a search removes, without a replacement or with one.
func removed(t *testing.T, s *model.Snapshot) []string {
	t.Helper()
	in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 1), Costs: make([]solver.Costs, 1), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
	v := NewSurvey(s, nil)
	sc := NewProjection(v, &in, nil)
	var options []Option
	for i := range s.Nodes {
		if m, block, ok := v.Candidate(int32(i)); ok && block == nil && m == Underutilized {
			options = append(options, Option{Node: int32(i)})
		}
	}
	var out []string
	sc.Search(options, []int{9}, DefaultEffort(), func(p *Proposal) []int32 {
		for _, i := range p.Nodes {
			out = append(out, s.Nodes[i].Name)
		}
		sc.Accept(p.Nodes, &p.Sim.Plan)
		return nil
	})
	return out
}

// TestPreferencesKept: what provisioning launches for a preference is not removed again.
func TestPreferencesKept(t *testing.T) {
	web := model.PodSelector{Namespaces: []string{"shop"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{"web"}}}}
	apart := func(key string) func(*model.Snapshot) {
		return func(s *model.Snapshot) {
			s.Specs[0].PreferredApart = []model.WeightedPodTerm{{Weight: 1, Term: model.PodTerm{Key: key, Selector: web}}}
		}
	}
	spread := func(key string) func(*model.Snapshot) {
		return func(s *model.Snapshot) {
			s.Specs[0].Spread = []model.Spread{{Key: key, MaxSkew: 1, MinDomains: 1, Selector: web, Soft: true}}
		}
	}
	both := []string{"in-a", "in-c"}
	for name, tc := range map[string]struct {
		reason string
		change func(*model.Snapshot)
		want   []string
	}{
		"none":          {reason: "one node is enough for all", change: func(*model.Snapshot) {}, want: both},
		"host spread":   {reason: "each pod has its node", change: spread("kubernetes.io/hostname")},
		"zone spread":   {reason: "each pod has its zone", change: spread("topology.kubernetes.io/zone")},
		"host apart":    {reason: "each pod has its node", change: apart("kubernetes.io/hostname")},
		"zone apart":    {reason: "each pod has its zone", change: apart("topology.kubernetes.io/zone")},
		"ignored":       {reason: "preferences do not count", want: both, change: func(s *model.Snapshot) { apart("kubernetes.io/hostname")(s); s.Settings.IgnorePreferences = true }},
		"nothing to be": {reason: "a pool that launches nothing launches nothing for a preference either", want: both, change: func(s *model.Snapshot) { apart("kubernetes.io/hostname")(s); s.Catalogs[0].Types = nil }},
		"preferred zone": {reason: "a preferred zone is one that pods stay in", change: func(s *model.Snapshot) {
			for i, zone := range []string{"a", "b", "c"} {
				spec := s.Specs[0]
				spec.Preferred = []model.WeightedTerm{{Weight: 1, Term: model.Term{{Key: "topology.kubernetes.io/zone", Operator: model.In, Values: []string{zone}}}}}
				s.Specs = append(s.Specs, spec)
				s.Pods[i].Spec = int32(i + 1)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := spread3(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC))
			tc.change(s)
			if diff := cmp.Diff(tc.want, removed(t, s)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSettling: consolidation moves no pods to nodes whose consolidateAfter has not passed.
func TestSettling(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	recently := func(nodes ...int) func(*model.Snapshot) {
		return func(s *model.Snapshot) {
			s.Pools[0].Disruption.ConsolidateAfter = time.Minute
			for _, i := range nodes {
				s.Nodes[i].LastPodEvent = now.Add(-10 * time.Second)
			}
		}
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*model.Snapshot)
		want   []string
	}{
		"settled":      {reason: "two of three nodes go", change: recently(), want: []string{"in-a", "in-c"}},
		"one settles":  {reason: "the pods of one go to the other that has settled", change: recently(2), want: []string{"in-a"}},
		"others":       {reason: "there is no other node to go to", change: recently(1, 2)},
		"at once":      {reason: "with consolidateAfter 0s nothing settles", want: []string{"in-a", "in-c"}, change: func(s *model.Snapshot) { recently(1, 2)(s); s.Pools[0].Disruption.ConsolidateAfter = 0 }},
		"not the pool": {reason: "a node without a pool has no consolidateAfter", want: []string{"in-a"}, change: func(s *model.Snapshot) { recently(1, 2)(s); s.Nodes[2].Pool, s.Nodes[2].Claim = -1, "" }},
	} {
		t.Run(name, func(t *testing.T) {
			s := spread3(now)
			tc.change(s)
			if diff := cmp.Diff(tc.want, removed(t, s)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReturning: a node is not empty while a pod ends that its StatefulSet makes again.
func TestReturning(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		workload string
		want     Method
	}{
		"stateful":  {reason: "the pod will want a place", workload: "StatefulSet/db", want: Underutilized},
		"stateless": {reason: "what replaces the pod asks for a place itself", workload: "Deployment/web", want: Empty},
	} {
		t.Run(name, func(t *testing.T) {
			s := spread3(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC))
			s.Pods[0].Workload, s.Pods[0].Ending, s.Pods[0].DoNotDisrupt = tc.workload, true, true
			m, block, ok := NewSurvey(s, nil).Candidate(0)
			if m != tc.want || block != nil || !ok {
				t.Errorf("%s: %s, blocked by %v", tc.reason, m, block)
			}
		})
	}
}

// TestSettlingCounts: pods on a node that takes no moved pods for now are counted by spreads
// as ever, those with nodeTaintsPolicy Honor included.
func TestSettlingCounts(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	db := model.PodSelector{Namespaces: []string{"shop"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{"db"}}}}
	for name, tc := range map[string]struct {
		reason string
		honor  bool
		taints []model.Taint
		want   []string
	}{
		"ignore":         {reason: "zone a has two of the pods, zone c none"},
		"honor":          {reason: "the same: nobody has set a taint", honor: true},
		"honor, tainted": {reason: "the pods of the tainted node do not count", honor: true, taints: []model.Taint{{Key: "team", Effect: model.NoSchedule}}, want: []string{"in-c"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := spread3(now)
			s.Pools[0].Disruption.ConsolidateAfter = time.Minute
			s.Nodes[0].LastPodEvent, s.Nodes[0].Taints = now.Add(-10*time.Second), tc.taints
			s.Nodes[1].Zone, s.Nodes[1].Labels, s.Nodes[1].DoNotDisrupt = "a", s.Nodes[0].Labels, true
			other := s.Specs[0]
			other.Labels = map[string]string{"app": "db"}
			s.Specs = append(s.Specs, other)
			s.Specs[0].Spread = []model.Spread{{Key: "topology.kubernetes.io/zone", MaxSkew: 1, MinDomains: 1, HonorTaints: tc.honor, Selector: db}}
			s.Pods[0].Spec, s.Pods[1].Spec, s.Pods[1].Node = 1, 1, 0
			if diff := cmp.Diff(tc.want, removed(t, s)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
