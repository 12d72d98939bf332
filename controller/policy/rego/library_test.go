package rego_test

import (
	"os"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/rego"
)

// withLibrary compiles a policy with the library of sdk/rego beside it.
func withLibrary(t *testing.T, hook policy.Hook, source, config string) policy.Compiled {
	t.Helper()
	lib, err := os.ReadFile("../../../sdk/rego/lib.rego")
	if err != nil {
		t.Fatal(err)
	}
	p, err := new(rego.Engine).Compile(t.Context(), &policy.Source{
		Info:   policy.Info{Name: "p", Hooks: []policy.Hook{hook}},
		Files:  map[string]string{"lib.rego": string(lib), "p.rego": "package spokeshave." + string(hook) + "\n\nimport data.spokeshave.lib\n\n" + source},
		Config: []byte(config),
	})
	if err != nil {
		t.Fatal(err)
	}
	if notes := p.Stats().Notes; notes != nil {
		t.Errorf("rules of the library run slowly: %v", notes)
	}
	return p
}

// TestLibrary: the rules of the library say what they promise, and none of them
// makes a policy slow.
func TestLibrary(t *testing.T) {
	rank := withLibrary(t, policy.HookRank, `
exclude contains "spot" if lib.spot(input.offering)
exclude contains "like" if lib.like(input.offering.instanceType, data.config.avoid)
exclude contains "team" if not lib.labelled(input.pool.labels, "team", "ml")
`, `{"avoid": ["p?.*", "*.metal"]}`)
	rows := []policy.RankRow{
		{InstanceType: "m7g.large", CapacityType: "on-demand"},
		{InstanceType: "m7g.large", CapacityType: "spot"},
		{InstanceType: "p5.48xlarge"},
		{InstanceType: "m7i.metal"},
		{InstanceType: "pp5.large"},
	}
	for team, want := range map[string][]string{
		"ml": {"", "spot", "like", "like", ""}, "": {"team", "spot; team", "like; team", "like; team", "team"},
	} {
		in := &policy.RankInput{Call: moment, Rows: rows, Pool: policy.PoolFacts{Labels: map[string]string{"x": "y"}}}
		if team != "" {
			in.Pool.Labels["team"] = team
		}
		got, err := rank.Rank(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("team %q: %d answers for %d rows", team, len(got), len(want))
		}
		for i := range got {
			if got[i].Reason != want[i] {
				t.Errorf("team %q, row %d: %q, want %q", team, i, got[i].Reason, want[i])
			}
		}
	}

	young := withLibrary(t, policy.HookConsolidate, `
deny contains "young" if lib.younger(input.candidate, 600)
deny contains "working" if {
	input.candidate.method == "Empty"
	lib.within("Europe/Berlin", ["Monday", "Tuesday"], 9, 17.5)
}
`, `{}`)
	for at, want := range map[string]string{
		"2026-01-05T07:59:59Z": "young", "2026-01-05T08:00:00Z": "working; young", // Monday, 9:00 in Berlin
		"2026-01-06T16:29:59Z": "working; young", "2026-01-06T16:30:00Z": "young", "2026-01-07T12:00:00Z": "young",
	} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		in := &policy.ConsolidateInput{Call: policy.Call{Time: when}, Candidates: []policy.Candidate{{Method: "Empty", AgeSeconds: 599}, {AgeSeconds: 600}}}
		got, err := young.Consolidate(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Reason != want || got[1].Verdict != policy.Allow {
			t.Errorf("%s: %+v, want %q", at, got, want)
		}
	}

	gpus := withLibrary(t, policy.HookCeiling, `deny contains "no" if lib.accelerated(input.launch)`, `{}`)
	got, err := gpus.Ceiling(t.Context(), &policy.CeilingInput{Call: moment, Launches: []policy.Launch{{GPUs: 1}, {}}})
	if err != nil || len(got.Deny) != 1 || got.Deny[0] == nil {
		t.Errorf("%+v, %v", got, err)
	}
}
