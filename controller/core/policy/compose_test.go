package policy

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// scripted is a policy that answers by the functions it is given.
type scripted struct {
	info        Info
	rank        func(*RankInput) ([]RankAnswer, error)
	consolidate func(*ConsolidateInput) ([]ConsolidateAnswer, error)
	ceiling     func(*CeilingInput) (CeilingAnswer, error)
}

func (s *scripted) Info() Info { return s.info }

func (s *scripted) Rank(_ context.Context, in *RankInput) ([]RankAnswer, error) { return s.rank(in) }

func (s *scripted) Consolidate(_ context.Context, in *ConsolidateInput) ([]ConsolidateAnswer, error) {
	return s.consolidate(in)
}

func (s *scripted) Ceiling(_ context.Context, in *CeilingInput) (CeilingAnswer, error) {
	return s.ceiling(in)
}

// ranker scores every row by f of the cost so far.
func ranker(name string, f func(cost float64) RankAnswer) *scripted {
	return &scripted{
		info: Info{Name: name, Hooks: []Hook{HookRank}},
		rank: func(in *RankInput) ([]RankAnswer, error) {
			out := make([]RankAnswer, len(in.Rows))
			for i := range in.Rows {
				out[i] = f(in.Rows[i].Cost)
			}
			return out, nil
		},
	}
}

func times(x float64) func(float64) RankAnswer {
	return func(cost float64) RankAnswer { return RankAnswer{Score: cost * x} }
}

func dropAbove(limit float64) func(float64) RankAnswer {
	return func(cost float64) RankAnswer { return RankAnswer{Score: cost, Exclude: cost > limit} }
}

func capped(n uint32, score float64) func(float64) RankAnswer {
	return func(float64) RankAnswer { return RankAnswer{Score: score, MaxNodes: n} }
}

func grouped(n uint32, score float64, shared bool) func(float64) RankAnswer {
	return func(float64) RankAnswer { return RankAnswer{Score: score, MaxNodes: n, Group: 9, Shared: shared} }
}

func faulty(f FailurePolicy, mode Mode) *scripted {
	fail := &Fault{Kind: FaultTrap, Message: "unreachable"}
	return &scripted{
		info:        Info{Name: "f", Hooks: []Hook{HookRank, HookConsolidate, HookCeiling}, Failure: f, Mode: mode},
		rank:        func(*RankInput) ([]RankAnswer, error) { return nil, fail },
		consolidate: func(*ConsolidateInput) ([]ConsolidateAnswer, error) { return nil, fail },
		ceiling:     func(*CeilingInput) (CeilingAnswer, error) { return CeilingAnswer{}, fail },
	}
}

func guarding() *scripted {
	p := faulty("", "")
	p.info.Guards = true
	return p
}

func TestRankPipeline(t *testing.T) {
	shadow := ranker("shadow", times(100))
	shadow.info.Mode = Shadow
	elsewhere := ranker("elsewhere", times(100))
	elsewhere.info.Match = Match{NodePools: []string{"gpu-*"}}
	cases := map[string]struct {
		reason   string
		policies []Policy
		tiers    []Tier
		excluded bool
		refused  string
		calls    []int
	}{
		"none":      {reason: "without policies the billed price stands", tiers: []Tier{{Cost: 2}}},
		"in order":  {reason: "each policy sees the cost so far", policies: []Policy{ranker("a", times(2)), ranker("b", times(3))}, tiers: []Tier{{Cost: 12}}, calls: []int{1, 1}},
		"tier":      {reason: "beyond maxNodes the previous cost counts", policies: []Policy{ranker("a", capped(5, 0))}, tiers: []Tier{{Until: 5, Cost: 0}, {Cost: 2}}, calls: []int{1}},
		"tier then": {reason: "a later policy is asked once per tier", policies: []Policy{ranker("a", capped(5, 0.5)), ranker("b", times(2))}, tiers: []Tier{{Until: 5, Cost: 1}, {Cost: 4}}, calls: []int{1, 2}},
		"two tiers": {reason: "a narrower tier splits a wider one", policies: []Policy{ranker("a", capped(5, 1)), ranker("b", capped(3, 0.1))}, tiers: []Tier{{Until: 3, Cost: 0.1}, {Until: 5, Cost: 1}, {Cost: 2}}, calls: []int{1, 2}},
		"overlap":   {reason: "a wider answer splits the tier it ends in", policies: []Policy{ranker("a", capped(5, 1)), ranker("b", capped(8, 0.1))}, tiers: []Tier{{Until: 5, Cost: 0.1}, {Until: 8, Cost: 0.1}, {Cost: 2}}, calls: []int{1, 2}},
		"exclude":   {reason: "a row that is dropped stays dropped", policies: []Policy{ranker("a", func(float64) RankAnswer { return RankAnswer{Exclude: true, Reason: "no"} }), ranker("b", times(1))}, tiers: []Tier{{Cost: 2}}, excluded: true, calls: []int{1, 1}},
		"deep":      {reason: "excluded in a deeper tier is excluded, not free", policies: []Policy{ranker("a", capped(5, 0.5)), ranker("b", dropAbove(1))}, tiers: []Tier{{Until: 5, Cost: 0.5}, {Cost: 2}}, excluded: true, calls: []int{1, 2}},
		"group":     {reason: "a group's share ends the tier", policies: []Policy{ranker("a", grouped(4, 0.5, false))}, tiers: []Tier{{Cost: 0.5, Shares: []Share{{GroupKey{"/a", "general", 9}, 0.25}}}, {Cost: 2}}, calls: []int{1}},
		"groups":    {reason: "a tier of two groups needs room in both", policies: []Policy{ranker("a", grouped(4, 0.5, true)), ranker("b", grouped(2, 0.1, false))}, tiers: []Tier{{Cost: 0.1, Shares: []Share{{GroupKey{"/a", "", 9}, 0.25}, {GroupKey{"/b", "general", 9}, 0.5}}}, {Cost: 0.5, Shares: []Share{{GroupKey{"/a", "", 9}, 0.25}}}, {Cost: 0.1, Shares: []Share{{GroupKey{"/b", "general", 9}, 0.5}}}, {Cost: 2}}, calls: []int{1, 2}},
		"in group":  {reason: "maxNodes splits a group's tier", policies: []Policy{ranker("a", grouped(4, 0.5, true)), ranker("b", capped(3, 0.1))}, tiers: []Tier{{Until: 3, Cost: 0.1, Shares: []Share{{GroupKey{"/a", "", 9}, 0.25}}}, {Cost: 0.5, Shares: []Share{{GroupKey{"/a", "", 9}, 0.25}}}, {Until: 3, Cost: 0.1}, {Cost: 2}}, calls: []int{1, 2}},
		"no bound":  {reason: "a group without maxNodes is a fault", policies: []Policy{ranker("a", grouped(0, 1, false))}, tiers: []Tier{{Cost: 2}}, calls: []int{1}},
		"shadow":    {reason: "a shadow policy is asked and not obeyed", policies: []Policy{shadow}, tiers: []Tier{{Cost: 2}}, calls: []int{1}},
		"unmatched": {reason: "a policy for other pools is not asked", policies: []Policy{elsewhere}, tiers: []Tier{{Cost: 2}}},
		"ignore":    {reason: "by default a fault of rank changes nothing", policies: []Policy{faulty("", ""), ranker("b", times(3))}, tiers: []Tier{{Cost: 6}}, calls: []int{1, 1}},
		"fail":      {reason: "a fail-closed rank policy stops the pool", policies: []Policy{faulty(Fail, "")}, tiers: []Tier{{Cost: 2}}, refused: "f", calls: []int{1}},
		"nan":       {reason: "a score that is not a number is a fault", policies: []Policy{ranker("nan", times(math.NaN()))}, tiers: []Tier{{Cost: 2}}, calls: []int{1}},
		"negative":  {reason: "a negative score is a fault", policies: []Policy{ranker("neg", times(-1))}, tiers: []Tier{{Cost: 2}}, calls: []int{1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := NewPanel(tc.policies, nil)
			out := p.Rank(t.Context(), &model.Pool{Name: "general"}, &RankInput{Rows: []RankRow{{Billed: 2}}})
			if diff := cmp.Diff([][]Tier{tc.tiers}, out.Tiers); diff != "" {
				t.Errorf("%s: tiers -want +got\n%s", tc.reason, diff)
			}
			if _, got := out.Excluded[0]; got != tc.excluded {
				t.Errorf("%s: excluded = %v", tc.reason, got)
			}
			refused := ""
			if out.Refused != nil {
				refused = out.Refused.Policy
			}
			if refused != tc.refused {
				t.Errorf("%s: refused by %q, want %q", tc.reason, refused, tc.refused)
			}
			var calls []int
			for _, u := range p.Uses() {
				calls = append(calls, u.Calls)
			}
			if diff := cmp.Diff(tc.calls, calls); diff != "" {
				t.Errorf("%s: calls -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRankRemarks(t *testing.T) {
	says := func(name, reason string, mode Mode) *scripted {
		p := ranker(name, func(cost float64) RankAnswer { return RankAnswer{Score: cost, Reason: reason} })
		p.info.Mode = mode
		return p
	}
	p := NewPanel([]Policy{says("a", "first", ""), says("b", "", ""), says("shadow", "unheard", Shadow), says("c", "last", "")}, nil)
	out := p.Rank(t.Context(), &model.Pool{Name: "general"}, &RankInput{Rows: []RankRow{{Billed: 2}}})
	want := [][]Remark{{{Policy: "a", Reason: "first"}, {Policy: "c", Reason: "last"}}}
	if diff := cmp.Diff(want, out.Remarks); diff != "" {
		t.Errorf("reasons of those that count, in their order: -want +got\n%s", diff)
	}
}

func caps(name string, hourly float64, soft bool) *scripted {
	return &scripted{
		info: Info{Name: name, Hooks: []Hook{HookCeiling}},
		ceiling: func(in *CeilingInput) (CeilingAnswer, error) {
			out := CeilingAnswer{Caps: map[string]Cap{"cluster": {HourlyUSD: &hourly, Soft: soft}}}
			for i := range in.Launches {
				if in.Launches[i].Price > hourly {
					if out.Deny == nil {
						out.Deny = map[int][]string{}
					}
					out.Deny[i] = []string{"dearer than " + name}
				}
			}
			return out, nil
		},
	}
}

func TestCeiling(t *testing.T) {
	known := map[string]map[string]Cap{"/f": {"cluster": {HourlyUSD: new(float64(7))}}}
	cases := map[string]struct {
		reason   string
		policies []Policy
		last     map[string]map[string]Cap
		hourly   float64 // -1: no cap
		soft     bool
		policy   string
		denied   string
		refused  bool
		capsOnly bool
	}{
		"none":     {reason: "no policy, no cap", hourly: -1},
		"least":    {reason: "the least cap wins", policies: []Policy{caps("wide", 9, false), caps("tight", 3, false)}, hourly: 3, policy: "tight", denied: "tight"},
		"soft":     {reason: "a soft cap binds nothing", policies: []Policy{caps("soft", 1, true)}, hourly: -1, soft: true, denied: "soft"},
		"failed":   {reason: "without caps known, a failing ceiling stops launches", policies: []Policy{faulty("", "")}, hourly: -1, refused: true},
		"last":     {reason: "the last known caps stand in for a failing policy", policies: []Policy{faulty("", "")}, last: known, hourly: 7, policy: "f"},
		"guard":    {reason: "nothing stands in for a failing guard that has no caps", policies: []Policy{faulty("", "")}, last: map[string]map[string]Cap{"/f": {}}, hourly: -1, refused: true},
		"both":     {reason: "caps do not stand in for the refusals of a guard", policies: []Policy{guarding()}, last: known, hourly: -1, refused: true},
		"its caps": {reason: "the caps of a failing guard hold as long as nothing is to be launched", policies: []Policy{guarding()}, last: known, hourly: 7, policy: "f", capsOnly: true},
		"asked":    {reason: "a failing guard has no caps to give, and is asked again about launches", policies: []Policy{faulty("", "")}, last: map[string]map[string]Cap{"/f": {}}, hourly: -1, capsOnly: true},
		"ignored":  {reason: "failurePolicy Ignore lets launches go on", policies: []Policy{faulty(Ignore, "")}, hourly: -1},
		"shadowed": {reason: "a failing shadow policy changes nothing", policies: []Policy{faulty(Fail, Shadow)}, hourly: -1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := &CeilingInput{Launches: []Launch{{Price: 5}}}
			if tc.capsOnly {
				in.Launches = nil
			}
			out := NewPanel(tc.policies, nil).Ceiling(t.Context(), in, tc.last)
			got, ok := out.Hourly["cluster"]
			if ok != (tc.hourly >= 0) || ok && (*got.HourlyUSD != tc.hourly || got.Policy != tc.policy) {
				t.Errorf("%s: cap %+v", tc.reason, got)
			}
			if _, soft := out.SoftHourly["cluster"]; soft != tc.soft {
				t.Errorf("%s: soft = %v", tc.reason, soft)
			}
			if out.Denied[0].Policy != tc.denied {
				t.Errorf("%s: denied by %q, want %q", tc.reason, out.Denied[0].Policy, tc.denied)
			}
			if (out.Refused != nil) != tc.refused {
				t.Errorf("%s: refused %+v", tc.reason, out.Refused)
			}
		})
	}
}

// TestShadowDisagrees: a shadow is compared with what the policies before it say.
func TestShadowDisagrees(t *testing.T) {
	policies := []Policy{judge("deny", Deny, 0, 0), inShadow(judge("same", Deny, 0, 0))}
	in := &ConsolidateInput{Candidates: make([]Candidate, 3)}
	p := NewPanel(policies, nil)
	p.Consolidate(t.Context(), in, func(*Match, int) bool { return true })
	if got := p.Uses()[1]; got.Denied != 3 || got.Disagreed != 0 {
		t.Errorf("all are kept anyway: %+v", got)
	}
	p = NewPanel(policies[1:], nil)
	p.Consolidate(t.Context(), in, func(*Match, int) bool { return true })
	if got := p.Uses()[0]; got.Disagreed != 3 {
		t.Errorf("nobody else keeps them: %+v", got)
	}
	double := ranker("double", func(cost float64) RankAnswer { return RankAnswer{Score: 2 * cost} })
	double.info.Mode = Shadow
	p = NewPanel([]Policy{double}, nil)
	p.Rank(t.Context(), &model.Pool{}, &RankInput{Rows: []RankRow{{Billed: 1}, {Billed: 0}}})
	if got := p.Uses()[0]; got.Disagreed != 1 {
		t.Errorf("one row of two is priced differently: %+v", got)
	}
}

func inShadow(p *scripted) *scripted {
	p.info.Mode = Shadow
	return p
}

func judge(name string, v Verdict, hold, cost float64) *scripted {
	return &scripted{
		info: Info{Name: name, Hooks: []Hook{HookConsolidate}},
		consolidate: func(in *ConsolidateInput) ([]ConsolidateAnswer, error) {
			out := make([]ConsolidateAnswer, len(in.Candidates))
			for i := range out {
				out[i] = ConsolidateAnswer{Verdict: v, HoldSeconds: hold, Cost: cost, Reason: name}
			}
			return out, nil
		},
	}
}

func TestConsolidate(t *testing.T) {
	cases := map[string]struct {
		reason   string
		policies []Policy
		want     ConsolidateOutcome
	}{
		"none":      {reason: "nobody objects", want: ConsolidateOutcome{Verdict: Allow, Cost: 1}},
		"all":       {reason: "all allow, costs add up", policies: []Policy{judge("a", Allow, 0, 2), judge("b", Allow, 0, 3)}, want: ConsolidateOutcome{Verdict: Allow, Cost: 6}},
		"one":       {reason: "one denial is enough", policies: []Policy{judge("a", Allow, 0, 0), judge("b", Deny, 0, 0)}, want: ConsolidateOutcome{Verdict: Deny, Cost: 1, Policy: "b", Reason: "b"}},
		"longest":   {reason: "the longest hold counts", policies: []Policy{judge("a", Hold, 60, 0), judge("b", Hold, 30, 0)}, want: ConsolidateOutcome{Verdict: Hold, HoldSeconds: 60, Cost: 1, Policy: "a", Reason: "a"}},
		"no time":   {reason: "a hold of no time is none", policies: []Policy{judge("a", Hold, 0, 0)}, want: ConsolidateOutcome{Verdict: Allow, Cost: 1}},
		"for ever":  {reason: "a hold too long for a clock counts as a year", policies: []Policy{judge("a", Hold, 1e300, 0)}, want: ConsolidateOutcome{Verdict: Hold, HoldSeconds: 366 * 86400, Cost: 1, Policy: "a", Reason: "a"}},
		"shadow":    {reason: "a shadow changes nothing, and is compared", policies: []Policy{inShadow(judge("a", Deny, 0, 0))}, want: ConsolidateOutcome{Verdict: Allow, Cost: 1}},
		"deny hold": {reason: "a denial outlasts a hold", policies: []Policy{judge("a", Hold, 60, 0), judge("b", Deny, 0, 0)}, want: ConsolidateOutcome{Verdict: Deny, Cost: 1, Policy: "b", Reason: "b"}},
		"closed":    {reason: "a fault keeps the node by default", policies: []Policy{faulty("", "")}, want: ConsolidateOutcome{Verdict: Deny, Cost: 1, Policy: "f", Reason: "Trap: unreachable"}},
		"open":      {reason: "failurePolicy Ignore leaves it to others", policies: []Policy{faulty(Ignore, "")}, want: ConsolidateOutcome{Verdict: Allow, Cost: 1}},
		"bad":       {reason: "an unknown verdict is a fault", policies: []Policy{judge("x", "perhaps", 0, 0)}, want: ConsolidateOutcome{Verdict: Deny, Cost: 1, Policy: "x", Reason: "BadReply: unknown verdict perhaps"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := &ConsolidateInput{Candidates: []Candidate{{Node: "n", Cost: 1}}}
			got := NewPanel(tc.policies, nil).Consolidate(t.Context(), in, func(*Match, int) bool { return true })
			if diff := cmp.Diff([]ConsolidateOutcome{tc.want}, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHardAndSoft: one policy may warn on a scope before it stops, and the least
// soft cap is told.
func TestHardAndSoft(t *testing.T) {
	both := func(name string, hard, soft float64) *scripted {
		return &scripted{info: Info{Name: name, Hooks: []Hook{HookCeiling}}, ceiling: func(*CeilingInput) (CeilingAnswer, error) {
			return CeilingAnswer{Caps: map[string]Cap{"cluster": {HourlyUSD: &hard, SoftHourlyUSD: &soft, SoftMonthlyUSD: &soft}}}, nil
		}}
	}
	out := NewPanel([]Policy{both("a", 10, 8), both("b", 12, 6)}, nil).Ceiling(t.Context(), &CeilingInput{}, nil)
	hard, soft, month := out.Hourly["cluster"], out.SoftHourly["cluster"], out.SoftMonthly["cluster"]
	if hard.Policy != "a" || *hard.HourlyUSD != 10 || soft.Policy != "b" || *soft.HourlyUSD != 6 || !soft.Soft || *month.MonthlyUSD != 6 || len(out.Monthly) != 0 {
		t.Errorf("hard %+v, soft %+v, monthly %+v", hard, soft, month)
	}
	if out := NewPanel([]Policy{both("a", 10, math.NaN())}, nil).Ceiling(t.Context(), &CeilingInput{}, nil); out.Refused == nil {
		t.Error("a soft cap that is no number")
	}
}
