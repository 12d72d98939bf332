package journal

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
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
	j := New(10, room)
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
	// The second decision equals the first one and is dropped.
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
	j := New(3, room)
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

// TestWhatADecisionWasMadeOf: the journal in memory has it too, and stores what two
// decisions share once.
func TestWhatADecisionWasMadeOf(t *testing.T) {
	j := New(10, room)
	for _, id := range []string{"a", "b"} {
		in := decided(id)
		j.Add(t.Context(), in.Snapshot, in.Decision)
		j.digests.busy.Wait()
	}
	want, err := decided("a").Snapshot.Digest()
	if err != nil {
		t.Fatal(err)
	}
	a, b := j.Entries()[0], j.Entries()[1]
	if a.Snapshot != want || b.Snapshot != want || a.HourlyCost != 96_000 || a.Candidates[0].Dropped[0].Reason != "c is old" {
		t.Errorf("want digest %s: %+v", want, a)
	}
	if &a.Candidates[0].Best[0] != &b.Candidates[0].Best[0] {
		t.Error("the same candidates are kept twice")
	}
}

// TestDigestsDoNotPile: decisions that follow each other too fast have no digest.
func TestDigestsDoNotPile(t *testing.T) {
	j := New(10, room)
	j.digests.one.Lock()
	for i := range undigested + 2 {
		in := decided(string(rune('a' + i)))
		j.Add(t.Context(), in.Snapshot, in.Decision)
	}
	j.digests.one.Unlock()
	j.digests.busy.Wait()
	without := 0
	for _, e := range j.Entries() {
		if e.Snapshot == "" {
			without++
		}
	}
	if without != 2 {
		t.Errorf("%d decisions without a digest, want 2", without)
	}
}
