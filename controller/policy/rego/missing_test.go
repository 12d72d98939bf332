package rego

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/policy"
)

// TestMissingInNegations: a variable that stands for a label is not equal to anything
// where the label is missing, and is not unequal either. Partial evaluation loses
// that, so that such rules are left to OPA; rules that only look alike are compiled.
func TestMissingInNegations(t *testing.T) {
	for name, tc := range map[string]struct {
		body     string
		compiled bool
	}{
		"a label looked up":         {`2 if not data.config.table[input.pool.labels.team]`, false},
		"by a variable":             {`2 if { x := input.pool.labels.team; not data.config.table[x] }`, false},
		"by another":                {`2 if { x := input.pool.labels.team; y := x; not data.config.table[y] }`, false},
		"and compared":              {`2 if not data.config.table[input.pool.labels.team] == 3`, false},
		"a variable compared":       {`2 if { x := input.pool.labels.team; not x == "a" }`, false},
		"in an array":               {`2 if { x := [input.pool.labels.team, "a"]; not x == ["a", "a"] }`, false},
		"out of an array":           {`2 if { [x, y] = [input.pool.labels.team, 1]; not data.config.table[x]; y == 1 }`, false},
		"out of an object":          {`2 if { x := {"k": input.pool.labels.team}; not data.config.table[x.k] }`, false},
		"a label named by a field":  {`2 if not data.config.table[input.pool.labels[input.offering.family]]`, false},
		"within every":              {`2 if every x in ["a"] { not data.config.table[input.pool.labels[x]] }`, false},
		"a function negated":        {"2 if not f(input.pool.labels.team)\nf(x) if x == \"a\"", false},
		"a function with a look-up": {"2 if not f(input.pool.labels.team)\nf(x) if data.config.table[x]", false},
		"negation in a function":    {"f(input.pool.labels.team)\nf(x) := 2 if not x == \"a\"", false},
		"negation in a helper":      {"2 if not h\nh if { x := input.pool.labels.team; not x == \"a\" }", false},
		"a helper's value":          {"2 if { x := h; not x == \"a\" }\nh := input.pool.labels.team", false},
		"a set":                     {"2 if not s[input.pool.labels.team]\ns contains x if some x in [\"a\", \"b\"]", false},

		"a label itself":           {`2 if not input.pool.labels.team == "a"`, true},
		"a field looked up":        {`2 if not data.config.table[input.offering.family]`, true},
		"a field by a variable":    {`2 if { x := input.offering.family; not data.config.table[x] }`, true},
		"a built-in function":      {`2 if { x := input.pool.labels.team; not startswith(x, "a") }`, true},
		"unequal":                  {`2 if { x := input.pool.labels.team; not x != "a" }`, true},
		"without negation":         {`2 if { x := input.pool.labels.team; data.config.table[x] > 1 }`, true},
		"an argument nobody reads": {"f(input.pool.labels.team)\nf(_) := 2", true},
		"the result of a function": {`2 if { x := lower(input.pool.labels.team); not data.config.table[x] }`, true},
		"a helper without a value": {"2 if not h\nh if data.config.table[input.pool.labels.team]", true},
	} {
		t.Run(name, func(t *testing.T) {
			compiled, byOPA := both(t, policy.HookRank, "package spokeshave.rank\nmultiplier[\"r\"] := "+tc.body)
			if compiled == nil {
				t.Fatal("the policy is refused")
			}
			if got := len(compiled.notes) == 0; got != tc.compiled {
				t.Errorf("compiled: %t, want %t: %v", got, tc.compiled, compiled.notes)
			}
			var scores []float64
			for _, labels := range []map[string]string{{}, {"team": "a"}, {"team": "zz"}, {"m7": "a"}} {
				in := &policy.RankInput{Pool: policy.PoolFacts{Name: "x", Labels: labels}, Rows: []policy.RankRow{{Family: "m7", Cost: 1}}}
				got, err1 := compiled.Rank(t.Context(), in)
				want, err2 := byOPA.Rank(t.Context(), in)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				scores = append(scores, want[0].Score)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("labels %v: -OPA +compiled\n%s", labels, diff)
				}
			}
			if !slices.Contains(scores, 1) && !slices.Contains(scores, 2) {
				t.Errorf("scores %v: the rule decides nothing", scores)
			}
		})
	}
}
