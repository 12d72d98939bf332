package rego_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/loader"
	oparego "github.com/open-policy-agent/opa/v1/rego"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/rego"
)

var update = flag.Bool("update", false, "write the published schemas anew")

// TestSchemas keeps the schemas that editors and `opa check --schema` use
// equal to those that policies are checked against.
func TestSchemas(t *testing.T) {
	published := map[string]map[string]any{}
	for _, hook := range []policy.Hook{policy.HookRank, policy.HookConsolidate, policy.HookCeiling} {
		published[string(hook)+".input.json"] = rego.Schema(hook)
		published[string(hook)+".output.json"] = answer(hook)
	}
	for name, schema := range published {
		path := filepath.Join("..", "..", "..", "sdk", "schemas", name)
		schema["$schema"] = "http://json-schema.org/draft-07/schema#"
		want, err := json.MarshalIndent(schema, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: -want +got; run with -update\n%s", path, diff)
		}
	}
}

// TestNames: authors write cases with the names that policies read.
func TestNames(t *testing.T) {
	for doc, tc := range map[string]struct {
		hook policy.Hook
		row  any
	}{
		"offering":  {policy.HookRank, policy.RankRow{}},
		"pool":      {policy.HookRank, policy.PoolFacts{}},
		"candidate": {policy.HookConsolidate, policy.Candidate{}},
		"launch":    {policy.HookCeiling, policy.Launch{}},
	} {
		text, err := json.Marshal(rego.Schema(tc.hook))
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Properties map[string]struct{ Properties map[string]any }
		}
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		want := slices.Sorted(maps.Keys(schema.Properties[doc].Properties))
		var got []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(tc.row)) {
			got = append(got, f.Tag.Get("yaml"))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
			t.Errorf("input.%s: -schema +case:\n%s", doc, diff)
		}
	}
}

// TestSpecified: the contract names every input field in the row of its document.
func TestSpecified(t *testing.T) {
	contract, err := os.ReadFile("../../../docs/spec/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, hook := range []policy.Hook{policy.HookRank, policy.HookConsolidate, policy.HookCeiling} {
		text, err := json.Marshal(rego.Schema(hook))
		if err != nil {
			t.Fatal(err)
		}
		type object struct {
			Properties           map[string]object
			AdditionalProperties json.RawMessage // an object's schema, or false
		}
		var schema object
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		if len(schema.Properties) == 0 {
			t.Fatalf("the schema of %s has no properties", hook)
		}
		for doc, of := range schema.Properties {
			row := regexp.MustCompile("(?m)^\\| `input\\." + doc + "[^`]*` .*$").FindString(string(contract))
			if row == "" {
				t.Errorf("docs/spec/policy.md has no row for input.%s", doc)
				continue
			}
			names := of.Properties
			if each := (object{}); json.Unmarshal(of.AdditionalProperties, &each) == nil {
				names = each.Properties
			}
			for name := range names {
				if !strings.Contains(row, "`"+name+"`") {
					t.Errorf("docs/spec/policy.md lacks input.%s.%s", doc, name)
				}
			}
		}
	}
}

// answer is the JSON schema of what a hook's package may answer.
func answer(hook policy.Hook) map[string]any {
	amount := map[string]any{"type": "number", "minimum": 0}
	amounts := map[string]any{"type": "object", "additionalProperties": amount}
	reasons := map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "uniqueItems": true}
	properties := map[string]any{}
	switch hook {
	case policy.HookRank:
		anyAmount := map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "number"}}
		properties["multiplier"], properties["adder"], properties["exclude"] = amounts, anyAmount, reasons
	case policy.HookConsolidate:
		properties["deny"], properties["hold"], properties["cost"] = reasons, amounts, amounts
	case policy.HookCeiling:
		limit := map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
			"hourly_usd": amount, "monthly_usd": amount, "soft": map[string]any{"type": "boolean"},
			"soft_hourly_usd": amount, "soft_monthly_usd": amount,
		}}
		properties["deny"] = reasons
		properties["cap"] = map[string]any{
			"type": "object", "additionalProperties": false,
			"patternProperties": map[string]any{"^(cluster|nodepool/.+|label/[^=]+=.*|namespace/.+)$": limit},
		}
	}
	return map[string]any{"type": "object", "properties": properties}
}

// TestAnswers: what the engine takes for an answer is what the schema says.
func TestAnswers(t *testing.T) {
	cases := map[string]struct {
		hook   policy.Hook
		source string
		answer string
		ok     bool
	}{
		"rank":          {policy.HookRank, `multiplier["a"] := 2` + "\n" + `adder["b"] := -0.01` + "\n" + `exclude contains "c" if input.offering.gpus > 0`, `{"multiplier": {"a": 2}, "adder": {"b": -0.01}, "exclude": ["c"]}`, true},
		"negative":      {policy.HookRank, `multiplier["a"] := -1`, `{"multiplier": {"a": -1}}`, false},
		"reason":        {policy.HookRank, `exclude contains 7 if input.offering.vcpu > 0`, `{"exclude": [7]}`, false},
		"consolidate":   {policy.HookConsolidate, `hold["a"] := 60` + "\n" + `cost["b"] := 1`, `{"hold": {"a": 60}, "cost": {"b": 1}}`, true},
		"hold":          {policy.HookConsolidate, `hold["a"] := -60`, `{"hold": {"a": -60}}`, false},
		"ceiling":       {policy.HookCeiling, `cap["nodepool/a"] := {"hourly_usd": 1, "soft_hourly_usd": 0.5}`, `{"cap": {"nodepool/a": {"hourly_usd": 1, "soft_hourly_usd": 0.5}}}`, true},
		"scope":         {policy.HookCeiling, `cap["pool/a"] := {"hourly_usd": 1}`, `{"cap": {"pool/a": {"hourly_usd": 1}}}`, false},
		"unknown field": {policy.HookCeiling, `cap["cluster"] := {"daily_usd": 1}`, `{"cap": {"cluster": {"daily_usd": 1}}}`, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := compile(t, tc.hook, "package spokeshave."+string(tc.hook)+"\n"+tc.source, "")
			if err == nil {
				switch tc.hook {
				case policy.HookRank:
					_, err = p.Rank(t.Context(), &policy.RankInput{Call: moment, Rows: []policy.RankRow{{Billed: 1, Cost: 1, VCPU: 1}}})
				case policy.HookConsolidate:
					_, err = p.Consolidate(t.Context(), &policy.ConsolidateInput{Call: moment, Candidates: make([]policy.Candidate, 1)})
				case policy.HookCeiling:
					_, err = p.Ceiling(t.Context(), &policy.CeilingInput{Call: moment})
				}
			}
			if (err == nil) != tc.ok {
				t.Errorf("the engine: %v", err)
			}
			schema, err := json.Marshal(answer(tc.hook))
			if err != nil {
				t.Fatal(err)
			}
			query := fmt.Sprintf("json.match_schema(json.unmarshal(%q), %q)[0] == true", tc.answer, schema)
			got, err := oparego.New(oparego.Query(query)).Eval(t.Context())
			if err != nil || got.Allowed() != tc.ok {
				t.Errorf("the schema: %v, %v", got, err)
			}
		})
	}
}

// TestCheck: the published schemas find a misspelt field in a policy that names
// its hook's, as `opa check --schema sdk/schemas` does.
func TestCheck(t *testing.T) {
	set, err := loader.Schemas(filepath.Join("..", "..", "..", "sdk", "schemas"))
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]bool{"gpus": true, "gpu": false} {
		source := "# METADATA\n# scope: package\n# schemas:\n#   - input: schema[\"ceiling.input\"]\npackage spokeshave.ceiling\n\n" +
			"deny contains \"x\" if input.launch." + field + " > 0\n"
		module, err := ast.ParseModuleWithOpts("p.rego", source, ast.ParserOptions{ProcessAnnotation: true})
		if err != nil {
			t.Fatal(err)
		}
		c := ast.NewCompiler().WithSchemas(set).WithUseTypeCheckAnnotations(true)
		if c.Compile(map[string]*ast.Module{"p.rego": module}); c.Failed() == want {
			t.Errorf("input.launch.%s: %v", field, c.Errors)
		}
	}
}
