package decide

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/test/kit/instancetype"
)

// scripted is a policy whose unset hooks have no opinion.
type scripted struct {
	info        policy.Info
	rank        func(*policy.RankInput) []policy.RankAnswer
	consolidate func(*policy.ConsolidateInput) []policy.ConsolidateAnswer
	ceiling     func(*policy.CeilingInput) policy.CeilingAnswer
	fault       error
}

func (s *scripted) Info() policy.Info { return s.info }

func (s *scripted) Rank(_ context.Context, in *policy.RankInput) ([]policy.RankAnswer, error) {
	if s.fault != nil {
		return nil, s.fault
	}
	return s.rank(in), nil
}

func (s *scripted) Consolidate(_ context.Context, in *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	if s.fault != nil {
		return nil, s.fault
	}
	return s.consolidate(in), nil
}

func (s *scripted) Ceiling(_ context.Context, in *policy.CeilingInput) (policy.CeilingAnswer, error) {
	if s.fault != nil {
		return policy.CeilingAnswer{}, s.fault
	}
	return s.ceiling(in), nil
}

func instanceType(name, family string, cpu int64, price model.Price) model.InstanceType {
	t := instancetype.New(name, cpu, cpu/1000*4, 50, instancetype.OnDemand("a", price), instancetype.OnDemand("b", price))
	t.Labels[labelFamily] = family
	return t
}

// snapshot has n pending pods of one vCPU, and two families to choose from.
func snapshot(n int) *model.Snapshot {
	s := &model.Snapshot{
		Time: time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC), Seed: 7,
		Catalogs: []model.Catalog{instancetype.Catalog(instanceType("m.large", "m", 4000, 200_000), instanceType("c.large", "c", 4000, 180_000))},
		Pools: []model.Pool{{
			Name: "general", NodeClass: "default", Labels: map[string]string{"team": "web"},
			Disruption: model.Disruption{AllowedEmpty: 10},
		}},
		Specs: []model.PodSpec{{Namespace: "shop", Requests: model.Resources{model.CPU: 1000, model.Memory: 1 << 30, model.PodSlots: 1}}},
	}
	for i := range n {
		s.Pods = append(s.Pods, model.Pod{UID: string(rune('a' + i)), Namespace: "shop", Name: "web-" + string(rune('a'+i)), Node: -1})
	}
	return s
}

func decideOn(t *testing.T, s *model.Snapshot, opts Options, policies ...policy.Policy) Decision {
	t.Helper()
	d, err := Decide(t.Context(), s, policies, opts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func families(d *Decision) map[string]int {
	out := map[string]int{}
	for i := range d.Plan.Nodes {
		out[strings.TrimSuffix(d.Plan.Nodes[i].Options[0].InstanceType, ".large")]++
	}
	return out
}

func avoid(family string) *scripted {
	return &scripted{
		info: policy.Info{Name: "avoid-" + family, Hooks: []policy.Hook{policy.HookRank}},
		rank: func(in *policy.RankInput) []policy.RankAnswer {
			out := make([]policy.RankAnswer, len(in.Rows))
			for i := range in.Rows {
				out[i].Score = in.Rows[i].Cost
				if in.Rows[i].Family == family {
					out[i].Score *= 3
				}
			}
			return out
		},
	}
}

func capAt(usd float64) *scripted {
	return &scripted{
		info: policy.Info{Name: "budget", Hooks: []policy.Hook{policy.HookCeiling}},
		ceiling: func(*policy.CeilingInput) policy.CeilingAnswer {
			return policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {HourlyUSD: &usd}}}
		},
	}
}

// refuse denies launches of a family.
func refuse(family string) *scripted {
	return &scripted{
		info: policy.Info{Name: "guard", Hooks: []policy.Hook{policy.HookCeiling}},
		ceiling: func(in *policy.CeilingInput) policy.CeilingAnswer {
			a := policy.CeilingAnswer{Deny: map[int][]string{}}
			for i := range in.Launches {
				if family == "*" || in.Launches[i].Family == family {
					a.Deny[i] = []string{family + " is not for us"}
				}
			}
			return a
		},
	}
}

func TestProvision(t *testing.T) {
	broken := &scripted{info: policy.Info{Name: "broken", Hooks: []policy.Hook{policy.HookCeiling}}, fault: &policy.Fault{Kind: policy.FaultTrap, Message: "boom"}}
	cases := map[string]struct {
		reason   string
		policies []policy.Policy
		opts     Options
		want     map[string]int
		waiting  int
		code     model.ReasonCode
		by       string
	}{
		"cheapest": {reason: "without policies the least billed price wins", want: map[string]int{"c": 2}},
		"rank":     {reason: "a rank policy changes the choice", policies: []policy.Policy{avoid("c")}, want: map[string]int{"m": 2}},
		"agreed":   {reason: "a rank policy that agrees with the prices changes nothing", policies: []policy.Policy{avoid("m")}, want: map[string]int{"c": 2}},
		"cap":      {reason: "a cap leaves room for one node", policies: []policy.Policy{capAt(0.25)}, want: map[string]int{"c": 1}, waiting: 4, code: model.CeilingReached, by: "budget"},
		"deny":     {reason: "a refused launch is planned again with what is left", policies: []policy.Policy{refuse("c")}, want: map[string]int{"m": 2}},
		"deny all": {reason: "when everything is refused the pods wait and say who refused", policies: []policy.Policy{refuse("*")}, want: map[string]int{}, waiting: 8, code: model.LaunchDenied, by: "guard"},
		"broken":   {reason: "a ceiling without an answer launches nothing", policies: []policy.Policy{broken}, want: map[string]int{}, waiting: 8, code: model.PolicyUnavailable, by: "broken"},
		"missing":  {reason: "a required policy that is absent launches nothing", opts: Options{Missing: []string{"budget"}}, want: map[string]int{}, waiting: 8, code: model.PolicyUnavailable, by: "budget"},
		"last caps": {
			reason: "the last known caps stand in for a broken ceiling", policies: []policy.Policy{broken},
			opts: Options{LastCaps: map[string]map[string]policy.Cap{"/broken": {"cluster": {HourlyUSD: new(0.25)}}}},
			want: map[string]int{"c": 1}, waiting: 4, code: model.CeilingReached, by: "broken",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := decideOn(t, snapshot(8), tc.opts, tc.policies...)
			if diff := cmp.Diff(tc.want, families(&d)); diff != "" {
				t.Errorf("%s: families -want +got\n%s", tc.reason, diff)
			}
			if len(d.Plan.Unplaced) != tc.waiting {
				t.Fatalf("%s: %d pods wait, want %d", tc.reason, len(d.Plan.Unplaced), tc.waiting)
			}
			for _, u := range d.Plan.Unplaced {
				if r := u.Reasons[0]; r.Code != tc.code || r.Policy != tc.by || r.Message == "" {
					t.Errorf("%s: reason %+v, want %s by %s", tc.reason, r, tc.code, tc.by)
				}
			}
		})
	}
}

// TestReviewFindsTheNeedle has a policy that refuses all but the dearest of
// forty families: planning again for each refusal would not get there.
func TestReviewFindsTheNeedle(t *testing.T) {
	s := snapshot(8)
	s.Catalogs[0].Types = nil
	for i := range 40 {
		family := "f" + string(rune('A'+i))
		s.Catalogs[0].Types = append(s.Catalogs[0].Types, instanceType(family+".large", family, 4000, model.Price(100_000+i*20_000)))
	}
	last := "f" + string(rune('A'+39))
	guard := &scripted{
		info: policy.Info{Name: "guard", Hooks: []policy.Hook{policy.HookCeiling}},
		ceiling: func(in *policy.CeilingInput) policy.CeilingAnswer {
			a := policy.CeilingAnswer{Deny: map[int][]string{}}
			for i := range in.Launches {
				if in.Launches[i].Family != last {
					a.Deny[i] = []string{"too cheap to be true"}
				}
			}
			return a
		},
	}
	d := decideOn(t, s, Options{}, guard)
	if diff := cmp.Diff(map[string]int{last: 2}, families(&d)); diff != "" || len(d.Plan.Unplaced) > 0 {
		t.Errorf("%d pods wait; families -want +got\n%s", len(d.Plan.Unplaced), diff)
	}
}

func TestSameInputSameDecision(t *testing.T) {
	a := decideOn(t, snapshot(8), Options{Disrupt: true}, avoid("c"), capAt(1))
	b := decideOn(t, snapshot(8), Options{Disrupt: true}, avoid("c"), capAt(1))
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("two decisions on one snapshot differ:\n%s", diff)
	}
	later := snapshot(8)
	later.Time = later.Time.Add(time.Second)
	if c := decideOn(t, later, Options{}); c.ID == a.ID {
		t.Error("decisions at different times share an ID")
	}
}

func node(name string, state model.NodeState) model.Node {
	return model.Node{Name: name, Claim: name, State: state, Price: 200_000, LaunchedAt: time.Date(2026, 3, 11, 8, 0, 0, 0, time.UTC)}
}

func TestDisrupt(t *testing.T) {
	protect := &scripted{
		info: policy.Info{Name: "protect", Hooks: []policy.Hook{policy.HookConsolidate}, Match: policy.Match{NodePools: []string{"general"}}},
		consolidate: func(in *policy.ConsolidateInput) []policy.ConsolidateAnswer {
			out := make([]policy.ConsolidateAnswer, len(in.Candidates))
			for i := range out {
				out[i] = policy.ConsolidateAnswer{Verdict: policy.Allow}
				if in.Candidates[i].Node == "held" {
					out[i] = policy.ConsolidateAnswer{Verdict: policy.Hold, HoldSeconds: 60, Reason: "wait"}
				}
				if in.Candidates[i].Node == "kept" {
					out[i] = policy.ConsolidateAnswer{Verdict: policy.Deny, Reason: "mine"}
				}
			}
			return out
		},
	}
	s := snapshot(0)
	s.Pools[0].Disruption = model.Disruption{AllowedEmpty: 1, ConsolidateAfter: time.Minute}
	s.Nodes = []model.Node{
		node("busy", model.Initialized), node("first", model.Initialized), node("held", model.Initialized),
		node("joining", model.Registered), node("kept", model.Initialized), node("over-budget", model.Initialized),
		node("pinned", model.Initialized), node("young", model.Initialized),
	}
	s.Nodes[6].DoNotDisrupt = true
	s.Nodes[7].LastPodEvent = s.Time.Add(-time.Second)
	s.Pods = []model.Pod{{Name: "web", Node: 0}, {Name: "daemon", Node: 1, Daemon: true}}
	d := decideOn(t, s, Options{Disrupt: true}, protect)
	got := map[string]string{}
	for _, each := range d.Disruptions {
		got[s.Nodes[each.Node].Name] = each.Policy + "|" + each.Reason
		if !each.RetryAt.IsZero() {
			got[s.Nodes[each.Node].Name] += "|again in " + each.RetryAt.Sub(s.Time).String()
		}
		if each.Go {
			got[s.Nodes[each.Node].Name] = "go"
		}
	}
	want := map[string]string{
		"first": "go", "held": "protect|wait|again in 1m0s", "kept": "protect|mine",
		"over-budget": "|the disruption budgets of NodePool general allow no more",
		"pinned":      "|do-not-disrupt", "young": "|consolidateAfter has not passed|again in 59s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("judgements -want +got\n%s", diff)
	}
}

// TestNodeOnItsWayOut: its pods get a new place before they are evicted, and a
// node that is planned to take them is not empty.
func TestNodeOnItsWayOut(t *testing.T) {
	s := snapshot(2)
	capacity := s.Catalogs[0].Types[0].Capacity
	s.Nodes = []model.Node{{Name: "going", State: model.Deleting, Pool: 0, Allocatable: capacity}}
	s.Pods[0].Node, s.Pods[1].Node = 0, 0
	s.Pods[1].Ending = true
	d := decideOn(t, s, Options{Disrupt: true})
	if len(d.Plan.Nodes) != 1 || len(d.Plan.Nodes[0].Pods) != 1 || d.Plan.Nodes[0].Pods[0] != 0 {
		t.Errorf("want a node for the pod that is not ending, not %+v", d.Plan.Nodes)
	}
	s.Nodes = append(s.Nodes, model.Node{Name: "there", State: model.Initialized, Pool: 0, Allocatable: capacity})
	d = decideOn(t, s, Options{Disrupt: true})
	if len(d.Plan.Nodes) != 0 || len(d.Plan.Existing) != 1 {
		t.Errorf("want room on the node that is there, not %+v", d.Plan)
	}
	if len(d.Disruptions) != 1 || d.Disruptions[0].Go {
		t.Errorf("the node is empty and about to be used: %+v", d.Disruptions)
	}
}

// TestSuspendedIsRecorded: a decision says which policies were not asked because somebody
// has suspended them, and its identity does not depend on it.
func TestSuspendedIsRecorded(t *testing.T) {
	s := &model.Snapshot{}
	suspended := []policy.Suspension{{Namespace: "spokeshave", Name: "budget", Until: time.Unix(3600, 0).UTC()}}
	with, err := Decide(t.Context(), s, nil, Options{Suspended: suspended})
	if err != nil {
		t.Fatal(err)
	}
	without, err := Decide(t.Context(), s, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(with.Suspended) != 1 || with.Suspended[0] != suspended[0] || len(without.Suspended) != 0 || with.ID != without.ID {
		t.Errorf("suspended %+v and %+v, identities %s and %s", with.Suspended, without.Suspended, with.ID, without.ID)
	}
}
