package decide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// used has two nodes: a large one with one small pod, and one that is full and
// protected.
func used() *model.Snapshot {
	s := snapshot(0)
	s.Catalogs[0].Types = append(s.Catalogs[0].Types, instanceType("m.small", "m", 2000, 90_000), instanceType("m.huge", "m", 16000, 900_000))
	s.Pools[0].Disruption = model.Disruption{Policy: "WhenEmptyOrUnderutilized", AllowedEmpty: 5, AllowedUnderutilized: 5, AllowedDrifted: 5}
	node := func(name, typ string, cpu int64, price model.Price) model.Node {
		return model.Node{
			Name: name, Claim: name, State: model.Initialized, InstanceType: typ, Zone: "a", CapacityType: model.OnDemand, Price: price,
			Allocatable: model.Resources{model.CPU: cpu, model.Memory: cpu / 1000 * 4 << 30, model.PodSlots: 50}, LaunchedAt: s.Time.Add(-time.Hour),
			Labels: map[string]string{"topology.kubernetes.io/zone": "a"},
		}
	}
	s.Nodes = []model.Node{node("full", "m.small", 2000, 90_000), node("large", "m.huge", 16000, 900_000)}
	for i, at := range []int32{0, 0, 1} {
		s.Pods = append(s.Pods, model.Pod{UID: string(rune('a' + i)), Namespace: "shop", Name: "web-" + string(rune('a'+i)), Node: at, DoNotDisrupt: i == 0})
	}
	return s
}

func TestSearch(t *testing.T) {
	allowing := func(ok policy.Verdict) *scripted {
		return &scripted{
			info: policy.Info{Name: "guard", Hooks: []policy.Hook{policy.HookConsolidate}},
			consolidate: func(in *policy.ConsolidateInput) []policy.ConsolidateAnswer {
				out := make([]policy.ConsolidateAnswer, len(in.Candidates))
				for i := range out {
					out[i].Verdict = policy.Allow
					if in.Candidates[i].Action == "replace" {
						out[i].Verdict = ok
					}
				}
				return out
			},
		}
	}
	cases := map[string]struct {
		reason   string
		change   func(*model.Snapshot)
		policies []policy.Policy
		// want are the nodes to delete, launch is the type of their replacement.
		want, launch string
	}{
		"replace": {reason: "the pod of a large node runs on a small one for less", change: func(*model.Snapshot) {}, want: "large", launch: "m.small"},
		"allowed": {reason: "a policy that allows changes nothing", change: func(*model.Snapshot) {}, policies: []policy.Policy{allowing(policy.Allow)}, want: "large", launch: "m.small"},
		"denied":  {reason: "policies see what is to be done before it is begun", change: func(*model.Snapshot) {}, policies: []policy.Policy{allowing(policy.Deny)}},
		"ceiling": {reason: "a full cap does not keep the cluster from getting cheaper", change: func(*model.Snapshot) {}, policies: []policy.Policy{capAt(0.5)}, want: "large", launch: "m.small"},
		"delete":  {reason: "a node whose pods fit elsewhere goes without a replacement", change: func(s *model.Snapshot) { s.Pods[0].DoNotDisrupt, s.Nodes[1].DoNotDisrupt = false, true }, want: "full"},
		"one into several": {reason: "two small nodes cost less than one large", change: func(s *model.Snapshot) {
			s.Specs[0].Requests = model.Resources{model.CPU: 1900, model.Memory: 1 << 30, model.PodSlots: 1}
			for i := range 2 { // the types between
				for o := range s.Catalogs[0].Types[i].Offerings {
					s.Catalogs[0].Types[i].Offerings[o].Price = 300_000
				}
			}
			s.Pods = append(s.Pods[:1], s.Pods[2], model.Pod{UID: "d", Namespace: "shop", Name: "web-d", Node: 1})
		}, want: "large", launch: "m.small,m.small"},
		"when empty":    {reason: "the pool lets empty nodes go only", change: func(s *model.Snapshot) { s.Pools[0].Disruption.Policy = "WhenEmpty" }},
		"never":         {reason: "consolidateAfter is Never", change: func(s *model.Snapshot) { s.Pools[0].Disruption.Never = true }},
		"too soon":      {reason: "consolidateAfter has not passed", change: func(s *model.Snapshot) { s.Pools[0].Disruption.ConsolidateAfter = 2 * time.Hour }},
		"no budget":     {reason: "the budgets allow none", change: func(s *model.Snapshot) { s.Pools[0].Disruption.AllowedUnderutilized = 0 }},
		"protected pod": {reason: "do-not-disrupt", change: func(s *model.Snapshot) { s.Pods[2].DoNotDisrupt = true }},
		"pod budget": {reason: "a PodDisruptionBudget that allows none keeps the node out", change: func(s *model.Snapshot) {
			s.Budgets = []model.PodBudget{{Namespace: "shop", Name: "b", Selector: model.PodSelector{Namespaces: []string{"shop"}}}}
		}},
		"two budgets": {reason: "the Eviction API refuses pods of two budgets", change: func(s *model.Snapshot) {
			b := model.PodBudget{Namespace: "shop", Name: "b", Allowed: 9, Selector: model.PodSelector{Namespaces: []string{"shop"}}}
			s.Budgets = []model.PodBudget{b, b}
		}},
		"unready": {reason: "AlwaysAllow lets a pod go that is not ready", change: func(s *model.Snapshot) {
			s.Pods[2].Unready = true
			s.Budgets = []model.PodBudget{{Namespace: "shop", Name: "b", FreesUnready: true, Selector: model.PodSelector{Namespaces: []string{"shop"}}}}
		}, want: "large", launch: "m.small"},
		"taken back":   {reason: "what failed a minute ago would fail again", change: func(s *model.Snapshot) { s.Nodes[1].UndoneAt = s.Time.Add(-time.Minute) }},
		"shifted away": {reason: "nodes of a zone that the cluster is shifted away from stay", change: func(s *model.Snapshot) { s.Catalogs[0].Away = []string{s.Nodes[1].Zone} }},
		"drifted": {reason: "a drifted node is replaced whatever it costs", change: func(s *model.Snapshot) {
			s.Pools[0].Disruption.Policy, s.Nodes[0].Drifted, s.Pods[0].DoNotDisrupt = "WhenEmpty", "NodePoolDrifted", false
			s.Nodes[1].Allocatable = model.Resources{model.CPU: 1000, model.Memory: 1 << 30, model.PodSlots: 1}
		}, want: "full", launch: "m.small"},
		"drifted, protected": {reason: "protected pods keep a drifted node", change: func(s *model.Snapshot) {
			s.Pools[0].Disruption.Policy, s.Nodes[0].Drifted, s.Pods[0].DoNotDisrupt = "WhenEmpty", "NodePoolDrifted", true
		}},
		"drifted, bounded": {reason: "unless its drain ends by the clock", change: func(s *model.Snapshot) {
			s.Pools[0].Disruption.Policy, s.Nodes[0].Drifted, s.Pods[0].DoNotDisrupt = "WhenEmpty", "NodePoolDrifted", true
			s.Nodes[0].TerminationGrace = time.Hour
		}, want: "full"},
		"spot": {reason: "spot to spot needs the setting", change: func(s *model.Snapshot) {
			for i := range s.Catalogs[0].Types {
				for o := range s.Catalogs[0].Types[i].Offerings {
					s.Catalogs[0].Types[i].Offerings[o].CapacityType = model.Spot
				}
			}
			s.Nodes[0].CapacityType, s.Nodes[1].CapacityType = model.Spot, model.Spot
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := used()
			tc.change(s)
			d := decideOn(t, s, Options{Disrupt: true, Search: true}, tc.policies...)
			var nodes, launch []string
			for _, c := range d.Commands {
				for _, i := range c.Nodes {
					nodes = append(nodes, s.Nodes[i].Name)
				}
				for i := range c.Replacements {
					launch = append(launch, c.Replacements[i].Options[0].InstanceType)
				}
				if c.Stage != Start {
					t.Errorf("%s: stage %s", tc.reason, c.Stage)
				}
			}
			if got := strings.Join(nodes, ","); got != tc.want || strings.Join(launch, ",") != tc.launch {
				t.Errorf("%s: %s goes for %v, want %s for %s", tc.reason, got, launch, tc.want, tc.launch)
			}
		})
	}
}

// denies is a policy that lets no node be disrupted.
func denies() *scripted {
	return &scripted{
		info: policy.Info{Name: "guard", Hooks: []policy.Hook{policy.HookConsolidate}},
		consolidate: func(in *policy.ConsolidateInput) []policy.ConsolidateAnswer {
			out := make([]policy.ConsolidateAnswer, len(in.Candidates))
			for i := range out {
				out[i].Verdict = policy.Deny
			}
			return out
		},
	}
}

// TestCarryOn: what is written on the nodes decides what comes next.
func TestCarryOn(t *testing.T) {
	savers := &scripted{
		info: policy.Info{Name: "savers", Hooks: []policy.Hook{policy.HookConsolidate}},
		consolidate: func(in *policy.ConsolidateInput) []policy.ConsolidateAnswer {
			out := make([]policy.ConsolidateAnswer, len(in.Candidates))
			for i := range out {
				out[i].Verdict = policy.Deny
				if in.Candidates[i].Savings >= 0.5 {
					out[i].Verdict = policy.Allow
				}
			}
			return out
		},
	}
	cases := map[string]struct {
		reason   string
		change   func(*model.Snapshot)
		policies []policy.Policy
		want     Stage
	}{
		"ready":      {reason: "the replacement is there, and all is as it was", change: func(*model.Snapshot) {}, want: Finish},
		"coming":     {reason: "the replacement is on its way", change: func(s *model.Snapshot) { s.Nodes[2].State = model.InFlight }, want: Wait},
		"failed":     {reason: "the replacement is gone", change: func(s *model.Snapshot) { s.Nodes[2].State = model.Deleting }, want: Undo},
		"never made": {reason: "a crash came between the mark and the launch", change: func(s *model.Snapshot) { s.Nodes[2].Claim = "else" }, want: Undo},
		"no taint":   {reason: "a crash came between the mark and the taint", change: func(s *model.Snapshot) { s.Nodes[1].Taints = nil }, want: Undo},
		"unreadable": {reason: "a mark that says nothing", change: func(s *model.Snapshot) { s.Nodes[1].Command = &model.Command{} }, want: Undo},
		"no room": {reason: "somebody else's pods took the replacement: with another one nothing would be saved", change: func(s *model.Snapshot) {
			s.Nodes[2].Allocatable, s.Nodes[1].Command.Removed = model.Resources{}, 0.15
		}, want: Undo},
		"no room, pays": {reason: "with another one it still saves", change: func(s *model.Snapshot) { s.Nodes[2].Allocatable = model.Resources{} }, want: Finish},
		"no room, no record": {reason: "what is saved is not known", change: func(s *model.Snapshot) {
			s.Nodes[2].Allocatable, s.Nodes[1].Command.Removed = model.Resources{}, 0
		}, want: Undo},
		"no room, drifted": {reason: "a drifted node goes all the same: its pods get another node", change: func(s *model.Snapshot) {
			s.Nodes[1].Command.Method, s.Nodes[1].Drifted, s.Nodes[2].Allocatable = "Drifted", "NodePoolDrifted", model.Resources{}
		}, want: Finish},
		"protected": {reason: "the pod was annotated after the replacement was launched: its drain waits", change: func(s *model.Snapshot) { s.Pods[2].DoNotDisrupt = true }, want: Finish},
		"protected, nothing launched": {reason: "the pod was annotated after the taint", change: func(s *model.Snapshot) {
			s.Pods[2].DoNotDisrupt, s.Nodes[1].Command.Replacements = true, nil
		}, want: Undo},
		"pod budget": {reason: "a busy service has no disruption left just now: its eviction waits", change: func(s *model.Snapshot) {
			s.Budgets = []model.PodBudget{{Namespace: "shop", Name: "b", Selector: model.PodSelector{Namespaces: []string{"shop"}}}}
		}, want: Finish},
		"over budget": {reason: "the budget was lowered after the replacement was launched", change: func(s *model.Snapshot) { s.Pools[0].Disruption.AllowedUnderutilized = 0 }, want: Finish},
		"over budget, nothing launched": {reason: "the budget was lowered after the taint", change: func(s *model.Snapshot) {
			s.Pools[0].Disruption.AllowedUnderutilized, s.Nodes[1].Command.Replacements = 0, nil
		}, want: Undo},
		"refused":           {reason: "the policy was swapped in between", change: func(*model.Snapshot) {}, policies: []policy.Policy{denies()}, want: Undo},
		"dearer":            {reason: "the replacement's price rose above what goes", change: func(s *model.Snapshot) { s.Nodes[2].Price = 950_000 }, want: Undo},
		"a little dearer":   {reason: "it still costs less", change: func(s *model.Snapshot) { s.Nodes[2].Price = 600_000 }, want: Finish},
		"cheaper as it was": {reason: "the price of what goes fell below the replacement's", change: func(s *model.Snapshot) { s.Nodes[1].Price = 80_000 }, want: Undo},
		"committed": {reason: "what a commitment makes cheap stays so, whatever it is billed at", change: func(s *model.Snapshot) {
			s.Nodes[2].Price, s.Nodes[2].Bought = 950_000, &model.Bought{Price: 950_000, Effective: 0.1}
		}, want: Finish},
		"discount lost": {reason: "half of what goes was paid for otherwise: what is saved is less than it is billed", change: func(s *model.Snapshot) {
			s.Nodes[1].Command.Removed, s.Nodes[2].Price = 0.45, 600_000
		}, want: Undo},
		"drifted": {reason: "a drifted node goes whatever that costs", change: func(s *model.Snapshot) {
			s.Nodes[1].Command.Method, s.Nodes[1].Drifted, s.Nodes[2].Price = "Drifted", "NodePoolDrifted", 950_000
		}, want: Finish},
		"no record": {reason: "a command of an older version says nothing of prices", change: func(s *model.Snapshot) {
			s.Nodes[1].Command.Removed, s.Nodes[1].Command.Billed, s.Nodes[2].Price = 0, 0, 950_000
		}, want: Finish},
		"half done": {reason: "the other of two nodes is gone: the replacement, which costs more than each of them, stays either way", change: func(s *model.Snapshot) {
			m := s.Nodes[1].Command
			m.Nodes, m.Removed, m.Billed = []string{"gone", "large"}, 1.8, 1_800_000
			s.Nodes[2].Price, s.Nodes[2].Bought = 1_000_000, &model.Bought{Price: 1_000_000, Effective: 1}
		}, policies: []policy.Policy{savers}, want: Finish},
		"half undone": {reason: "the other node was freed already, and what spoke against the whole speaks against the half", change: func(s *model.Snapshot) {
			m := s.Nodes[1].Command
			m.Nodes, m.Removed, m.Billed = []string{"freed", "large"}, 1.8, 1_800_000
			s.Nodes = append(s.Nodes, s.Nodes[1])
			s.Nodes[3].Name, s.Nodes[3].Claim, s.Nodes[3].Command, s.Nodes[3].Taints = "freed", "freed", nil, nil
			s.Nodes[2].Price, s.Nodes[2].Bought = 2_000_000, &model.Bought{Price: 2_000_000, Effective: 2}
		}, want: Undo},
		"not begun": {reason: "with both nodes there, it saves less than the policy wants", change: func(s *model.Snapshot) {
			m := s.Nodes[1].Command
			m.Removed, m.Billed = 0.9, 900_000
			s.Nodes[2].Price, s.Nodes[2].Bought = 700_000, &model.Bought{Price: 700_000, Effective: 0.7}
		}, policies: []policy.Policy{savers}, want: Undo},
		"too late": {reason: "nobody waits for ever", change: func(s *model.Snapshot) {
			s.Nodes[2].State = model.InFlight
			s.Nodes[1].Command.Started = s.Time.Add(-time.Hour)
		}, want: Undo},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := used()
			s.Nodes = append(s.Nodes, s.Nodes[0])
			s.Nodes[2].Name, s.Nodes[2].Claim, s.Nodes[2].Replaces = "new", "new", []string{"large"}
			s.Nodes[1].Taints = []model.Taint{{Key: taintDisrupted, Effect: model.NoSchedule}}
			s.Nodes[1].Command = &model.Command{ID: "x", Method: "Underutilized", Nodes: []string{"large"}, Replacements: []string{"new"}, Started: s.Time.Add(-time.Minute), Removed: 0.9, Billed: 900_000}
			s.Nodes[2].Bought = &model.Bought{Price: 90_000, Effective: 0.09}
			tc.change(s)
			d := decideOn(t, s, Options{Disrupt: true, Search: true}, tc.policies...)
			if len(d.Commands) != 1 || d.Commands[0].Stage != tc.want {
				t.Errorf("%s: %+v, want %s", tc.reason, d.Commands, tc.want)
			}
		})
	}
}

// TestTakenBack: what a cap left while a node and its replacement counted once is
// not spent by the decision that makes both stay.
func TestTakenBack(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		cap    float64
		back   bool
		gone   bool // another node of the command is on its way out
		want   int  // nodes launched
	}{
		"goes on":       {reason: "the pair counts once: 0.09 + 0.9 run, and 0.2 are left", cap: 1.19, want: 1},
		"taken back":    {reason: "all three nodes count, 1.08 in all, and 0.11 are too little", cap: 1.19, back: true, want: 0},
		"room for both": {reason: "a wide cap leaves enough beside all three", cap: 1.4, back: true, want: 1},
		"one is going":  {reason: "1.17 run; of the node that is deleted and the replacement one will be left, and 1.08 count", cap: 1.27, back: true, gone: true, want: 1},
		"not more":      {reason: "0.17 are too little", cap: 1.25, back: true, gone: true, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := used()
			s.Nodes = append(s.Nodes, s.Nodes[0])
			s.Nodes[2].Name, s.Nodes[2].Claim, s.Nodes[2].Replaces = "new", "new", []string{"large"}
			s.Nodes[1].Taints = []model.Taint{{Key: taintDisrupted, Effect: model.NoSchedule}}
			s.Nodes[1].Command = &model.Command{ID: "x", Method: "Underutilized", Nodes: []string{"large"}, Replacements: []string{"new"}, Started: s.Time.Add(-time.Minute)}
			if tc.gone {
				s.Nodes[1].Command.Nodes = []string{"large", "gone"}
				s.Nodes = append(s.Nodes, s.Nodes[0])
				s.Nodes[3].Name, s.Nodes[3].Claim, s.Nodes[3].State, s.Nodes[3].Command = "gone", "gone", model.Deleting, s.Nodes[1].Command
			}
			s.Specs = append(s.Specs, model.PodSpec{Namespace: "shop", Requests: model.Resources{model.CPU: 4000, model.PodSlots: 1}})
			s.Pods = append(s.Pods, model.Pod{UID: "w", Namespace: "shop", Name: "waits", Spec: int32(len(s.Specs) - 1), Node: -1})
			policies := []policy.Policy{capAt(tc.cap)}
			if tc.back {
				policies = append(policies, denies())
			}
			d := decideOn(t, s, Options{Disrupt: true}, policies...)
			if len(d.Commands) != 1 || (d.Commands[0].Stage == Undo) != tc.back {
				t.Fatalf("%+v", d.Commands)
			}
			if len(d.Plan.Nodes) != tc.want || len(d.Plan.Unplaced) != 1-tc.want {
				t.Errorf("%s: launches %+v, waiting %+v", tc.reason, d.Plan.Nodes, d.Plan.Unplaced)
			}
			for _, u := range d.Plan.Unplaced {
				if r := u.Reasons[0]; r.Code != model.CeilingReached || r.Scope != "cluster" || r.Policy != "system/budget" && r.Policy != "budget" {
					t.Errorf("%s: %+v", tc.reason, r)
				}
			}
		})
	}
}

// TestBeside: one consolidation need not wait for another.
func TestBeside(t *testing.T) {
	s := used()
	s.Nodes = append(s.Nodes, s.Nodes[0], s.Nodes[1])
	s.Nodes[2].Name, s.Nodes[2].Claim, s.Nodes[2].Replaces, s.Nodes[2].State = "new", "new", []string{"large"}, model.InFlight
	s.Nodes[3].Name, s.Nodes[3].Claim = "other", "other"
	s.Pods = append(s.Pods, model.Pod{UID: "d", Namespace: "shop", Name: "web-d", Node: 3}, model.Pod{UID: "e", Namespace: "shop", Name: "web-e", Node: 3})
	s.Nodes[1].Taints = []model.Taint{{Key: taintDisrupted, Effect: model.NoSchedule}}
	s.Nodes[1].Command = &model.Command{ID: "x", Method: "Underutilized", Nodes: []string{"large"}, Replacements: []string{"new"}, Started: s.Time.Add(-time.Minute)}
	for budget, want := range map[int][]Stage{1: {Wait}, 2: {Wait, Start}} {
		s.Pools[0].Disruption.AllowedUnderutilized = budget
		d := decideOn(t, s, Options{Disrupt: true, Search: true})
		var got []Stage
		for i := range d.Commands {
			got = append(got, d.Commands[i].Stage)
		}
		if !slices.Equal(got, want) {
			t.Errorf("with a budget of %d: %v, want %v", budget, got, want)
		}
	}
}

// TestInstead: a widened proposal whose plan the checker rejects is not started. Its
// alternative is started instead, unless there is none or it is refused too.
func TestInstead(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		instead func(good, bad *disrupt.Proposal) *disrupt.Proposal
		begun   int
	}{
		"nothing":   {reason: "there is nothing else", instead: func(*disrupt.Proposal, *disrupt.Proposal) *disrupt.Proposal { return nil }},
		"right":     {reason: "the other is right", instead: func(good, _ *disrupt.Proposal) *disrupt.Proposal { return good }, begun: 1},
		"wrong too": {reason: "the other is no better", instead: func(_, bad *disrupt.Proposal) *disrupt.Proposal { other := *bad; return &other }},
		"third": {reason: "and so on", begun: 1, instead: func(good, bad *disrupt.Proposal) *disrupt.Proposal {
			other := *bad
			other.Instead = good
			return &other
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := used()
			d := &decider{s: s, panel: policy.NewPanel(nil, func() time.Duration { return 0 }), opts: Options{Elapsed: func() time.Duration { return 0 }}}
			j := &disrupter{decider: d, survey: disrupt.NewSurvey(s, nil), disrupting: make([]int, len(s.Pools))}
			j.input(t.Context())
			projection := (&searchStep{j}).projection(t.Context(), nil)
			good := projection.Consolidate([]int32{1})
			if good == nil || len(good.Sim.Plan.Nodes) != 1 {
				t.Fatalf("proposal %+v", good)
			}
			bad, sim := *good, *good.Sim
			sim.Widened, sim.Plan = true, model.Plan{Existing: []model.Assignment{{Node: 0, Pods: []int32{2}}}} // node full has no room
			bad.Sim = &sim
			bad.Instead = tc.instead(good, &bad)
			refused := (&searchStep{j}).start(t.Context(), projection, &bad)
			if len(refused) > 0 == (tc.begun > 0) {
				t.Errorf("%s: refused %v", tc.reason, refused)
			}
			if n := len(j.out.Commands); n != tc.begun || n > 0 && len(j.out.Commands[0].Replacements) != 1 {
				t.Errorf("%s: commands %+v, want %d", tc.reason, j.out.Commands, tc.begun)
			}
		})
	}
}
