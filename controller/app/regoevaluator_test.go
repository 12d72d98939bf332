package app

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
)

// TestRegoEvaluator: flag and environment variable select the evaluator of Rego
// policies, for the loader and for the webhook.
func TestRegoEvaluator(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		args    []string
		env     string
		byOPA   bool
		invalid bool
	}{
		"default":     {"rules are compiled when nobody says otherwise", nil, "", false, false},
		"flag":        {"the flag leaves them to OPA", []string{"--rego-evaluator=opa"}, "", true, false},
		"environment": {"so does the environment", nil, "opa", true, false},
		"both":        {"the flag goes before the environment", []string{"--rego-evaluator=compiled"}, "opa", false, false},
		"unknown":     {"anything else is refused", []string{"--rego-evaluator=fast"}, "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{}
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			o.Bind(fs)
			if err := o.Parse(fs, append(tc.args, "--cluster-name=test"), []string{"REGO_EVALUATOR=" + tc.env}); err != nil {
				t.Fatal(err)
			}
			if err := o.Validate(); (err != nil) != tc.invalid || tc.invalid && !strings.Contains(err.Error(), "--rego-evaluator") {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if tc.invalid {
				return
			}
			p, err := o.engines(engine.Config{})["rego"].Compile(t.Context(), &policy.Source{
				Info:  policy.Info{Name: "p", Hooks: []policy.Hook{policy.HookRank}},
				Files: map[string]string{"p.rego": "package spokeshave.rank\nmultiplier[\"x\"] := 2 if input.offering.vcpu > 1"},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Close(t.Context()) })
			if got := len(p.Stats().Notes) > 0; got != tc.byOPA {
				t.Errorf("%s: evaluated by OPA: %t, notes %q", tc.reason, got, p.Stats().Notes)
			}
		})
	}
}
