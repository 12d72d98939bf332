package rego

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/policy"
)

// TestValuesOfFunctions: a rule whose value is what a function returns, under a key that is known when
// the policy is loaded, is a program and gives what OPA gives.
func TestValuesOfFunctions(t *testing.T) {
	const functions = "package spokeshave.rank\ntwice(x) := x * 2\nlabel(x) := sprintf(\"r %v\", [x])\n"
	for reason, rule := range map[string]string{
		"a key made by a built-in function": `adder[sprintf("r %v", [data.config.n])] := twice(input.pool.pendingPods) if { input.offering.zone != "m5" }`,
		"a key made by a function":          `adder[label(data.config.n)] := twice(input.pool.pendingPods) if { input.offering.zone != "m5" }`,
		"a key from the configuration":      `adder[data.config.word] := twice(input.pool.pendingPods) if { input.offering.zone != "m5" }`,
		"a key from the body":               `adder[k] := twice(input.pool.pendingPods) if { k := "r"; input.offering.zone != "m5" }`,
		"a table of values":                 `adder[k] := twice(v) if { some k, v in data.config.table; input.offering.zone == k }`,
		"a value known ahead":               `adder[data.config.word] := twice(3) if { input.offering.zone != "m5" }`,
		"a key known from the source":       `adder["r"] := twice(input.pool.pendingPods) if { input.offering.zone != "m5" }`,
		"a key that the row has":            `adder[input.offering.zone] := twice(input.pool.pendingPods) if { input.offering.zone != "m5" }`,
	} {
		t.Run(reason, func(t *testing.T) {
			fast, slow := both(t, policy.HookRank, functions+rule+"\n")
			if len(fast.notes) > 0 {
				t.Errorf("it is not a program: %v", fast.notes)
			}
			in := &policy.RankInput{Pool: policy.PoolFacts{Name: "b", PendingPods: 2}}
			for _, zone := range []string{"a", "b", "m5"} {
				in.Rows = append(in.Rows, policy.RankRow{Zone: zone, Cost: 1})
			}
			got, err := fast.Rank(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			want, err := slow.Rank(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-evaluated +program\n%s", diff)
			}
			if want[0].Score == 1 {
				t.Errorf("the rule says nothing about the first row: %v", want)
			}
		})
	}
}
