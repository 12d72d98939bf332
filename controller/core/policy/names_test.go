package policy

import (
	"testing"

	"spokeshave.dev/controller/core/model"
)

// TestAnswersLeadToHashes: an answer names its policy so that the record of the
// decision, which has the hash, is found by that name and the hook.
func TestAnswersLeadToHashes(t *testing.T) {
	speaking := func(namespace, name string) *scripted {
		return &scripted{
			info: Info{Namespace: namespace, Name: name, Hash: namespace + name, Hooks: []Hook{HookRank, HookConsolidate, HookCeiling}},
			rank: func(*RankInput) ([]RankAnswer, error) {
				return []RankAnswer{{Exclude: true, Reason: "no"}}, nil
			},
			consolidate: func(*ConsolidateInput) ([]ConsolidateAnswer, error) {
				return []ConsolidateAnswer{{Verdict: Deny, Reason: "no"}}, nil
			},
			ceiling: func(*CeilingInput) (CeilingAnswer, error) {
				return CeilingAnswer{Deny: map[int][]string{0: {"no"}}}, nil
			},
		}
	}
	cases := map[string]struct {
		why      string
		policies []Policy
		hash     string
	}{
		"Alone":     {"a name of its own is enough", []Policy{speaking("ours", "budget"), speaking("theirs", "other")}, "oursbudget"},
		"SameNames": {"two namespaces have a policy of one name", []Policy{speaking("theirs", "budget"), speaking("ours", "budget")}, "theirsbudget"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := NewPanel(tc.policies, nil)
			said := map[Hook]string{
				HookRank:        p.Rank(t.Context(), &model.Pool{Name: "general"}, &RankInput{Rows: []RankRow{{Billed: 2}}}).Excluded[0].Policy,
				HookConsolidate: p.Consolidate(t.Context(), &ConsolidateInput{Candidates: make([]Candidate, 1)}, func(*Match, int) bool { return true })[0].Policy,
				HookCeiling:     p.Ceiling(t.Context(), &CeilingInput{Launches: make([]Launch, 1)}, nil).Denied[0].Policy,
			}
			for hook, by := range said {
				if hashes := named(p.Uses(), hook, by); len(hashes) != 1 || hashes[0] != tc.hash {
					t.Errorf("%s: %s was answered by %q, which leads to %v, want %s", tc.why, hook, by, hashes, tc.hash)
				}
			}
		})
	}
}

// named are the hashes of the policies that a name may mean.
func named(uses []Use, hook Hook, name string) []string {
	var out []string
	for i := range uses {
		if u := &uses[i]; u.Hook == hook && (u.Name == name || u.Namespace+"/"+u.Name == name) {
			out = append(out, u.Hash)
		}
	}
	return out
}
