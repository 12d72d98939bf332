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

func TestNodesThatStayCrowdNothingOut(t *testing.T) {
	j := New(3)
	at := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	j.Add(t.Context(), snapshot(), &decide.Decision{ID: "launch", Time: at, Plan: model.Plan{Nodes: []model.PlannedNode{{Options: []model.Option{{InstanceType: "m5.large"}}}}}})
	for i := range 10 {
		d := &decide.Decision{ID: string(rune('a' + i)), Time: at.Add(time.Duration(i) * time.Minute), Disruptions: []decide.Disruption{{Node: 0, Reason: "young"}}}
		if i%2 == 1 { // only a search looks at the other node
			d.Disruptions = append(d.Disruptions, decide.Disruption{Node: 1, Reason: "nothing cheaper"})
		}
		j.Add(t.Context(), snapshot(), d)
	}
	if len(j.entries) != 2 || j.entries[0].ID != "launch" {
		t.Fatalf("%d entries, the first %s: want the launch and one of nodes that stay", len(j.entries), j.entries[0].ID)
	}
	got := map[string]time.Time{}
	for _, c := range j.entries[1].Disruptions {
		got[c.Node+" "+c.Reason] = c.Since
	}
	if diff := cmp.Diff(map[string]time.Time{"n0 young": at, "n1 nothing cheaper": at.Add(time.Minute)}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
