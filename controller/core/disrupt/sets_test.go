package disrupt

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// TestSetsAreTriedOnce: of three nodes all seven sets are tried, each once, although sixty are
// drawn. Where a budget allows two of them, no set is larger.
func TestSetsAreTriedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		budget int
		want   []string
	}{
		"all": {"the budget allows all three", 3, []string{"[0 1 2]", "[0 1]", "[0 2]", "[0]", "[1 2]", "[1]", "[2]"}},
		"two": {"the budget allows two", 2, []string{"[0 1]", "[0 2]", "[0]", "[1 2]", "[1]", "[2]"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{Pools: []model.Pool{{Name: "general", Catalog: -1}}, Nodes: make([]model.Node, 3), Seed: 1}
			sc := NewProjection(NewSurvey(s, nil), &solver.Input{Snapshot: s}, nil)
			var open []Option
			for i := range sc.prices {
				sc.prices[i].effective = 1
				open = append(open, Option{Node: int32(i), Cost: 1, price: 1})
			}
			x := &search{projection: sc, left: []int{tc.budget}, effort: DefaultEffort()}
			var got []string
			for _, nodes := range x.setsToReplace(open, open, x.effort.Replaces) {
				got = append(got, fmt.Sprint(slices.Sorted(slices.Values(nodes))))
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
