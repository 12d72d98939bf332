package cases

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// fake answers what a test says.
type fake struct {
	policy.Policy
	rank        func(*policy.RankInput) ([]policy.RankAnswer, error)
	consolidate []policy.ConsolidateAnswer
	ceiling     func(*policy.CeilingInput) (policy.CeilingAnswer, error)
}

func (fake) Info() policy.Info {
	return policy.Info{
		Name: "fake", Mode: policy.Shadow, Match: policy.Match{NodePools: []string{"other"}},
		Hooks: []policy.Hook{policy.HookRank, policy.HookConsolidate, policy.HookCeiling},
	}
}
func (fake) Stats() policy.Stats         { return policy.Stats{} }
func (fake) Close(context.Context) error { return nil }
func (f fake) Rank(_ context.Context, in *policy.RankInput) ([]policy.RankAnswer, error) {
	return f.rank(in)
}

func (f fake) Consolidate(context.Context, *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	return f.consolidate, nil
}

func (f fake) Ceiling(_ context.Context, in *policy.CeilingInput) (policy.CeilingAnswer, error) {
	return f.ceiling(in)
}

// run asks f the cases of a text and gives all failures.
func run(t *testing.T, f fake, text string) []string {
	t.Helper()
	all, err := Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := Runner{Compile: func(context.Context, json.RawMessage) (policy.Compiled, error) { return f, nil }}
	var out []string
	for i := range all {
		for _, failure := range r.Run(t.Context(), &all[i]) {
			out = append(out, failure.String())
		}
	}
	return out
}

const rankCase = `cases:
  - name: a
    hook: rank
    input:
      offerings:
        - {id: x, billed: 0.4, tiers: [{until: 4, cost: 0.2}, {cost: 0.4}]}
        - {id: y, billed: 0.3}
        - {id: z, billed: 0.1}
    expect:
      scores: {x: 0.1, y: 0.3}
      tiers:
        x: [{until: 2, cost: 0.1}, {until: 4, cost: 0.2}, {cost: 0.4}]
        y: [{until: 2, cost: 0.3}, {cost: 0.3}]
      maxNodes: {x: 2}
      order: [x, y]
      reasons: {x: "half*"}
      excluded: {z: too small}
`

// halves makes everything half as dear for two nodes, and drops what costs 0.1.
func halves(in *policy.RankInput) ([]policy.RankAnswer, error) {
	out := make([]policy.RankAnswer, len(in.Rows))
	for i := range in.Rows {
		switch cost := in.Rows[i].Cost; cost {
		case 0.1:
			out[i] = policy.RankAnswer{Exclude: true, Reason: "too small"}
		case 0.3:
			out[i] = policy.RankAnswer{Score: cost, MaxNodes: 2}
		default:
			out[i] = policy.RankAnswer{Score: cost / 2, MaxNodes: 2, Reason: "half the cost"}
		}
	}
	return out, nil
}

func TestRank(t *testing.T) {
	if got := run(t, fake{rank: halves}, rankCase); got != nil {
		t.Errorf("failures:\n%s", strings.Join(got, "\n"))
	}
	wrong := strings.NewReplacer("scores: {x: 0.1,", "scores: {x: 0.2,", "x: [{until: 2,", "x: [{until: 3,", "maxNodes: {x: 2}", "maxNodes: {x: 1}",
		"order: [x, y]", "order: [y, x]", `"half*"`, `"a third*"`, "{z: too small}", "{}").Replace(rankCase)
	want := []string{
		`f.yaml:10: score of x: want 0.2, got 0.1`,
		`f.yaml:14: maxNodes of x: want 1, got 2`,
		`f.yaml:12: tiers of x: want up to node 3 0.1, up to node 4 0.2, then 0.4, got up to node 2 0.1, up to node 4 0.2, then 0.4`,
		`f.yaml:16: reason of x: want "a third*", got "half the cost"`,
		`f.yaml:17: z is excluded: too small`,
		`f.yaml:15: order: want y before x, they cost 0.3 and 0.1`,
	}
	got := run(t, fake{rank: halves}, wrong)
	sorted := cmp.Transformer("set", func(in []string) map[string]bool {
		out := map[string]bool{}
		for _, s := range in {
			out[s] = true
		}
		return out
	})
	if diff := cmp.Diff(want, got, sorted); diff != "" {
		t.Error(diff)
	}
}

func TestFaultAndOpinion(t *testing.T) {
	const question = "cases:\n- {name: a, hook: rank, input: {offerings: [{billed: 1}]}, expect: {%}}\n"
	bad := fake{rank: func(*policy.RankInput) ([]policy.RankAnswer, error) { return []policy.RankAnswer{{Score: -1}}, nil }}
	silent := fake{rank: func(*policy.RankInput) ([]policy.RankAnswer, error) { return nil, policy.ErrNoOpinion }}
	cases := map[string]struct {
		reason string
		policy fake
		expect string
		want   string
	}{
		"kind":       {"a kind is enough", bad, "fault: BadReply", ""},
		"text":       {"so is a pattern of the text", bad, `fault: "*finite*"`, ""},
		"other":      {"another fault is none of it", bad, "fault: Trap", `want the fault "Trap", got "BadReply: a score`},
		"unexpected": {"a fault is named", bad, "noOpinion: false", "the policy is at fault: BadReply"},
		"none":       {"an answer is not a fault", fake{rank: halves}, "fault: Trap", "the policy answers"},
		"silent":     {"no opinion leaves the cost", silent, "noOpinion: true, scores: {m7g.large: 1}", ""},
		"not silent": {"an answer is an opinion", fake{rank: halves}, "noOpinion: true", "want noOpinion true"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(run(t, tc.policy, strings.Replace(question, "%", tc.expect, 1)), "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestConsolidate(t *testing.T) {
	f := fake{consolidate: []policy.ConsolidateAnswer{{Verdict: policy.Hold, HoldSeconds: 60, Cost: 2, Reason: "young"}}}
	text := `cases:
  - name: a
    hook: consolidate
    input: {candidates: [{node: n}]}
    expect: {verdicts: {n: {verdict: hold, holdSeconds: 60, cost: 2, reason: young}}}
  - name: b
    hook: consolidate
    input: {candidates: [{node: n}]}
    expect: {verdicts: {n: {verdict: allow, holdSeconds: 61, cost: 1, reason: old}}}
`
	want := []string{
		"f.yaml:9: n: want allow, got hold: young", "f.yaml:9: n: want a hold of 61 s, got 60 s",
		"f.yaml:9: n: want the cost 1, got 2", `f.yaml:9: n: want the reason "old", got "young"`,
	}
	if diff := cmp.Diff(want, run(t, f, text)); diff != "" {
		t.Error(diff)
	}
}

func TestCeiling(t *testing.T) {
	ten := 10.0
	f := fake{ceiling: func(in *policy.CeilingInput) (policy.CeilingAnswer, error) {
		if len(in.Launches) == 0 {
			return policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {HourlyUSD: &ten}}}, nil
		}
		return policy.CeilingAnswer{Deny: map[int][]string{1: {"no accelerators"}}}, nil
	}}
	text := `cases:
  - name: a
    hook: ceiling
    input: {launches: [{id: x}, {id: y, gpus: 1}]}
    expect:
      caps: {cluster: {hourly_usd: 10}}
      denied: {y: no accelerators}
  - name: b
    hook: ceiling
    input: {launches: [{id: x}, {id: y, gpus: 1}]}
    expect:
      caps: {nodepool/gpu: {monthly_usd: 1}}
      denied: {x: it is x}
  - {name: c, hook: ceiling, expect: {caps: {cluster: {hourly_usd: 10, monthly_usd: 5}}}}
`
	want := []string{
		"f.yaml:12: want a cap on nodepool/gpu, there is none", "f.yaml:12: a cap on cluster that is not expected: 10 $/h",
		"f.yaml:13: want x denied, it is not", "f.yaml:13: y is denied: no accelerators",
		"f.yaml:14: cap on cluster: want 10 $/h and 5 $/month, got 10 $/h",
	}
	if diff := cmp.Diff(want, run(t, f, text)); diff != "" {
		t.Error(diff)
	}
}

func TestPlan(t *testing.T) {
	r := Runner{
		Compile: func(context.Context, json.RawMessage) (policy.Compiled, error) { return fake{}, nil },
		Decide: func(_ context.Context, s *Scenario, _ policy.Policy) (*Plan, error) {
			if diff := cmp.Diff([]string{"dir/app.yaml"}, s.Manifests); diff != "" {
				t.Error(diff)
			}
			return &Plan{
				Nodes: map[string]int{"a.large/z1/spot": 2, "a.large/z2/spot": 1, "b.large/z1/on-demand": 1}, HourlyCost: 1.5,
				Unscheduled: map[string][]string{"ns/p-0": {"cap b leaves 0"}, "ns/p-1": {"cap b leaves 0"}},
				Removed:     []string{"n1", "n2"}, Kept: map[string]string{"n3": "too young"},
			}, nil
		},
	}
	text := `cases:
  - name: a
    scenario: app.yaml
    expect:
      plan: {nodes: {"*/spot": 3, b.large/z1/on-demand: 1}, hourlyCost: 1.5, unscheduled: [{pods: ns/p-*, count: 2, reason: cap b*}], removed: ["n*"], kept: {n3: "*young"}}
  - name: b
    scenario: app.yaml
    expect:
      plan:
        nodes: {"a.large/*": 2}
        unscheduled: [{pods: ns/p-0, reason: other}]
        removed: [n1, n3]
        kept: {n3: old, n4: ""}
`
	all, err := Parse("dir/f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Run(t.Context(), &all[0]); got != nil {
		t.Errorf("%v", got)
	}
	var got []string
	for _, f := range r.Run(t.Context(), &all[1]) {
		got = append(got, f.String())
	}
	want := []string{
		"dir/f.yaml:10: nodes a.large/*: want 2, got 3", "dir/f.yaml:10: nodes b.large/z1/on-demand: want 0, got 1",
		`dir/f.yaml:11: ns/p-0 waits: want the reason "other", got "cap b leaves 0"`, "dir/f.yaml:11: ns/p-1 waits: cap b leaves 0",
		"dir/f.yaml:12: want node n3 removed, it stays: too young",
		"dir/f.yaml:12: node n2 is removed",
		`dir/f.yaml:13: node n3 is kept: want "old", got "too young"`,
		"dir/f.yaml:13: want node n4 kept, it is removed, or could not go anyway",
	}
	if diff := cmp.Diff(want, got[:len(got)-1]); diff != "" || !strings.Contains(got[len(got)-1], "a.large/z2/spot: 1\n") {
		t.Errorf("%s\n%s", diff, got)
	}
}

// TestShared: rows that are shared within a file, by alias or merge, are read
// like those that are written out, with the same defaults.
func TestShared(t *testing.T) {
	all, err := Parse("f.yaml", []byte(`cases:
- name: a
  hook: rank
  input: &in {pool: {labels: {a: b}}, offerings: [&o {billed: 3, running: 2}, {<<: *o, id: b, cost: 0, capacityType: spot, onDemand: 0}]}
  expect: {noOpinion: true}
- {name: b, hook: rank, input: {<<: *in}, expect: {noOpinion: true}}
`))
	if err != nil {
		t.Fatal(err)
	}
	row := policy.RankRow{
		InstanceType: "m7g.large", Family: "m7g", Zone: "us-east-1a", CapacityType: model.OnDemand, Arch: "amd64",
		Billed: 3, OnDemand: 3, VCPU: 2, MemoryGiB: 8, PodsFit: 1, Running: 2, RunningCluster: 2,
	}
	spot := row
	spot.CapacityType, spot.OnDemand = model.Spot, 0
	if len(all) != 2 {
		t.Fatalf("%d cases, want 2", len(all))
	}
	for _, c := range all {
		if diff := cmp.Diff([]policy.RankRow{row, spot}, c.rank.in.Rows); diff != "" {
			t.Errorf("%s: %s", c.Name, diff)
		}
		if diff := cmp.Diff([][]policy.Tier{{{Cost: 3}}, {{Cost: 0}}}, c.rank.tiers); diff != "" {
			t.Errorf("%s: %s", c.Name, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"unknown field": {"cases:\n- {name: a, hook: rank, inputs: {}}\n", "f.yaml:2: field inputs not found"},
		"syntax":        {"cases:\n- {name: a\n- b\n", "f.yaml:"},
		"type":          {"cases:\n- {name: a, hook: rank, input: {offerings: [{billed: cheap}]}}\n", "f.yaml:2: cannot unmarshal !!str `cheap` into float64"},
		"empty":         {"{}\n", "no cases"},
		"hook":          {"cases:\n- {name: a, hook: rang}\n", `hook "rang": want rank`},
		"name":          {"cases:\n- {hook: rank}\n", "needs a name"},
		"time":          {"cases:\n- {name: a, hook: rank, time: noon}\n", "want RFC 3339"},
		"twice":         {"cases:\n- &c {name: a, hook: ceiling, expect: {caps: {}}}\n- *c\n", `named "a"`},
		"nothing":       {"cases:\n- {name: a, hook: ceiling}\n", "expects nothing"},
		"foreign":       {"cases:\n- {name: a, hook: ceiling, expect: {scores: {a: 1}}}\n", "scores is not expected"},
		"foreign input": {"cases:\n- {name: a, hook: ceiling, input: {offerings: [{}]}, expect: {caps: {}}}\n", "input.offerings is not for this hook"},
		"stranger":      {"cases:\n- {name: a, hook: rank, input: {offerings: [{id: x}]}, expect: {scores: {y: 1}}}\n", `"y" is not in the input`},
		"ids":           {"cases:\n- {name: a, hook: rank, input: {offerings: [{}, {}]}, expect: {scores: {}}}\n", "give each an id"},
		"tiers":         {"cases:\n- {name: a, hook: rank, input: {offerings: [{tiers: [{cost: 1}, {cost: 2}]}]}, expect: {scores: {}}}\n", "until must rise"},
		"plan":          {"cases:\n- {name: a, hook: rank, input: {offerings: [{}]}, expect: {plan: {}}}\n", "are for cases with a scenario"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(rankCase))
	f.Add([]byte("cases: [{name: a, scenario: [x], expect: {plan: {nodes: {}}}}]"))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = Parse("f.yaml", text) })
}
