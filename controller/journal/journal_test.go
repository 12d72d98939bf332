package journal

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/decide"
	"spokeshave.dev/controller/model"
)

func snapshot() *model.Snapshot {
	return &model.Snapshot{
		Pools: []model.Pool{{Name: "general"}},
		Nodes: []model.Node{{Name: "n0", Claim: "c0"}, {Name: "n1", Claim: "c1"}},
		Specs: []model.PodSpec{{}},
		Pods:  []model.Pod{{Namespace: "shop", Name: "web", Node: -1}},
	}
}

func TestOnlyTheLatestSaysWhyNodesStay(t *testing.T) {
	j := New(10)
	at := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	for i, reason := range []string{"young", "young", "protected"} {
		j.Add(t.Context(), snapshot(), &decide.Decision{
			ID: string(rune('a' + i)), Time: at.Add(time.Duration(i) * time.Minute),
			Disruptions: []decide.Disruption{{Node: 0, Reason: reason}, {Node: 1, Go: true}},
		})
	}
	var got []string
	for i := range j.entries {
		for _, c := range j.entries[i].Disruptions {
			got = append(got, j.entries[i].ID+" "+c.Node+" "+c.Reason)
		}
	}
	// The second decision said what the first one had said, and is not kept.
	if diff := cmp.Diff([]string{"a n1 ", "c n0 protected", "c n1 "}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestClaimsAreNamedAsTheyAreMade(t *testing.T) {
	option := []model.Option{{InstanceType: "m5.large"}}
	e := entry(snapshot(), &decide.Decision{
		ID:   "d",
		Plan: model.Plan{Nodes: []model.PlannedNode{{Pods: []int32{0}, Options: option}}},
		Commands: []decide.Command{
			{Stage: decide.Wait, Nodes: []int32{0}},
			{Stage: decide.Start, Nodes: []int32{1}, Replacements: []model.PlannedNode{{Options: option}}},
		},
	})
	got := []string{e.Nodes[0].Claim, e.Commands[1].Replacements[0].Claim}
	want := []string{model.ClaimName("general", "d", 0), model.ClaimName("general", "d", 1)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
