package rego_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/policy"
)

// TestUnknownSettings: a note says where a policy reads a name that its configuration does not
// have, for the rule is undefined and nobody is told otherwise.
func TestUnknownSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, rule, config string
		want                 []string
	}{
		"misspelt":       {"the cap is none", `cap["cluster"] := {"hourly_usd": data.config.hourly}`, `{"hourlyUSD": 10}`, []string{"p.rego:2:34: data.config.hourly is undefined: the configuration has no hourly"}},
		"known":          {"it has a value", `cap["cluster"] := {"hourly_usd": data.config.hourlyUSD}`, `{"hourlyUSD": 10}`, nil},
		"with a default": {"the policy says what holds without it", `cap["cluster"] := {"hourly_usd": object.get(data.config, "hourly", 5)}`, `{"hourlyUSD": 10}`, nil},
		"below a name":   {"names of a map are the user's", `cap["cluster"] := {"hourly_usd": data.config.caps.cluster}`, `{"caps": {}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := load(t, policy.HookCeiling, "package spokeshave.ceiling\n"+tc.rule+"\n", tc.config)
			if diff := cmp.Diff(tc.want, p.Stats().Notes); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}
