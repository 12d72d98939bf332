package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// TestShadowDifferences: of what a Shadow policy would have changed, examples say what
// holds now and what would hold, each once.
func TestShadowDifferences(t *testing.T) {
	row := []RankRow{{InstanceType: "m5.large", CapacityType: model.Spot, Zone: "a", Billed: 2}}
	usd := func(v float64) *float64 { return &v }
	for name, tc := range map[string]struct {
		reason string
		policy *scripted
		ask    func(*testing.T, *Panel)
		want   []Difference
	}{
		"score": {
			reason: "another score", policy: ranker("s", times(3)),
			ask: func(t *testing.T, p *Panel) {
				for range 2 {
					p.Rank(t.Context(), &model.Pool{Name: "general"}, &RankInput{Rows: row})
				}
			},
			want: []Difference{{"m5.large (spot) in a, NodePool general", "counts as 2.0000 $/h", "would count as 6.0000 $/h"}},
		},
		"exclusion": {
			reason: "with the policy's reason", policy: ranker("s", func(float64) RankAnswer { return RankAnswer{Exclude: true, Reason: "too old"} }),
			ask:  func(t *testing.T, p *Panel) { p.Rank(t.Context(), &model.Pool{Name: "general"}, &RankInput{Rows: row}) },
			want: []Difference{{"m5.large (spot) in a, NodePool general", "may be launched", "would be excluded: too old"}},
		},
		"node": {
			reason: "a node that it would keep",
			policy: &scripted{info: Info{Name: "s", Hooks: []Hook{HookConsolidate}}, consolidate: func(*ConsolidateInput) ([]ConsolidateAnswer, error) {
				return []ConsolidateAnswer{{Verdict: Deny, Reason: "month end"}}, nil
			}},
			ask: func(t *testing.T, p *Panel) {
				p.Consolidate(t.Context(), &ConsolidateInput{Candidates: []Candidate{{Node: "n1", Method: "Empty"}}}, func(*Match, int) bool { return true })
			},
			want: []Difference{{"node n1 (Empty)", "may be disrupted", "would be kept: month end"}},
		},
		"caps": {
			reason: "a cap where there is none, and a refused launch",
			policy: &scripted{info: Info{Name: "s", Hooks: []Hook{HookCeiling}}, ceiling: func(in *CeilingInput) (CeilingAnswer, error) {
				a := CeilingAnswer{Caps: map[string]Cap{"cluster": {HourlyUSD: usd(2)}}}
				if len(in.Launches) > 0 {
					a.Deny = map[int][]string{0: {"too dear"}}
				}
				return a, nil
			}},
			ask: func(t *testing.T, p *Panel) {
				p.Ceiling(t.Context(), &CeilingInput{}, nil)
				p.Ceiling(t.Context(), &CeilingInput{Launches: []Launch{{NodePool: "general", InstanceType: "m5.large", CapacityType: "spot", Zone: "a"}}}, nil)
			},
			want: []Difference{
				{"cluster", "has no cap", "would be capped at 2.00 $/hour"},
				{"a launch of m5.large (spot) in a, NodePool general", "is launched", "would be refused: too dear"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.policy.info.Mode = Shadow
			p := NewPanel([]Policy{tc.policy}, nil)
			tc.ask(t, p)
			if diff := cmp.Diff(tc.want, p.Uses()[0].Differences); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}
