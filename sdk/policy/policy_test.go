package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/sdk/abi"
	"spokeshave.dev/sdk/policy"
	"spokeshave.dev/sdk/policy/policytest"
)

// The policy of this test binary: it does a little of everything.
var (
	_ = policy.Configure(configure)
	_ = policy.Rank(rank)
	_ = policy.Consolidate(consolidate)
	_ = policy.Ceiling(ceiling)

	avoid  []string
	factor float64
)

func configure(c *policy.Config) error {
	avoid, factor = c.Strings("avoid"), c.Float("factor", 2)
	return nil
}

func rank(pool *policy.Pool, rows policy.Rows, out policy.Verdicts) {
	if team, _ := pool.Labels().Get("team"); team == "broken" {
		pool.Fail("no such team")
		return
	}
	for i := range rows.Len() {
		switch row := rows.At(i); {
		case row.GPUs > 0:
			out.Exclude(i, "no GPUs here")
		case len(avoid) > 0 && rows.Family(i) == avoid[0]:
			out.Score(i, row.Cost*factor)
			out.Reason(i, "family to avoid")
			out.MaxNodes(i, 5)
		}
	}
}

func consolidate(candidates policy.Candidates, out policy.Permissions) {
	for i := range candidates.Len() {
		team, _ := candidates.Labels(i).Get("team")
		switch {
		case team == "ml":
			out.Deny(i, "team "+team)
		case candidates.At(i).AgeSeconds < 600:
			out.Hold(i, 60, "young")
		default:
			out.Allow(i)
			out.Cost(i, 2)
		}
	}
}

func ceiling(scopes policy.Scopes, launches policy.Launches, out policy.Caps) {
	for i := range scopes.Len() {
		if scopes.Name(i) == "cluster" {
			out.Hourly(i, 2)
			out.SoftHourly(i, 1)
			out.SoftMonthly(i, 900)
		}
	}
	for i := range launches.Len() {
		if key, _ := launches.Namespaces(i).At(0); key == "sandbox" {
			out.Deny(i, "no nodes for "+key)
		}
	}
}

func TestRank(t *testing.T) {
	policytest.Configure(t, `{"avoid": ["m7i"], "factor": 3}`)
	got := policytest.Rank(t, policytest.Pool{Name: "p", Labels: map[string]string{"a": "b", "team": "web"}}, []policytest.Offering{
		{Family: "m7i", Price: 1}, {Family: "c7g", Price: 1, Cost: 0.5}, {Family: "g5", GPUs: 1, Price: 3},
	})
	want := []policytest.Verdict{
		{Score: 3, MaxNodes: 5, Reason: "family to avoid"}, {Score: 0.5}, {Score: 3, Excluded: true, Reason: "no GPUs here"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestConsolidate(t *testing.T) {
	got := policytest.Consolidate(t, []policytest.Candidate{
		{Labels: map[string]string{"team": "ml"}}, {AgeSeconds: 10}, {AgeSeconds: 1000},
	})
	want := []policytest.Permission{
		{Verdict: "deny", Reason: "team ml"}, {Verdict: "hold", HoldSeconds: 60, Reason: "young"}, {Verdict: "allow", Cost: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCeiling(t *testing.T) {
	caps, refusals := policytest.Ceiling(t,
		[]policytest.Scope{{Name: "cluster"}, {Name: "nodepool/x"}},
		[]policytest.Launch{{Namespaces: []string{"sandbox"}}, {Namespaces: []string{"web"}}})
	one, two, many := 1.0, 2.0, 900.0
	if diff := cmp.Diff([]policytest.Cap{{Hourly: &two, SoftHourly: &one, SoftMonthly: &many}, {}}, caps); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]policytest.Refusal{{Denied: true, Reason: "no nodes for sandbox"}, {}}, refusals); diff != "" {
		t.Error(diff)
	}
}

func TestConfigErrors(t *testing.T) {
	cases := map[string]struct{ config, want string }{
		"good":       {`{"avoid": ["a", "b\u00e9\ud83d\ude00"], "factor": 1e1}`, ""},
		"none":       {``, ""},
		"null":       {`null`, ""},
		"misspelt":   {`{"faktor": 3}`, "config.faktor: unknown key"},
		"wrong type": {`{"factor": "3"}`, "config.factor: not a number"},
		"mixed list": {`{"avoid": ["a", 3]}`, "config.avoid: not a list of texts"},
		"cut":        {`{"avoid": [`, "byte 11"},
		"no object":  {`[1]`, "not an object"},
		"tail":       {`{} x`, "text after the end"},
		"NaN":        {`{"factor": NaN}`, "not a value"},
		"deep":       {strings.Repeat("[", 100), "too deeply"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := policy.Setup(1<<abi.HookRank, []byte(tc.config))
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"avoid": ["a\n"], "factor": -1.5e3, "x": {"y": [true, false, null]}}`))
	f.Fuzz(func(_ *testing.T, b []byte) { _ = policy.Setup(0, b) })
}

func FuzzHandle(f *testing.F) {
	f.Add([]byte("SSV1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < abi.HeaderSize {
			return
		}
		var h abi.Header
		// An empty pool section is the host's bug, which row() reports.
		if h.Parse(b) == nil && h.Hook == abi.HookRank && h.Pool.Count == 0 {
			return
		}
		if h.Out.Count < h.Rows.Count+2*h.Pool.Count {
			return
		}
		policy.Handle(b)
	})
}
