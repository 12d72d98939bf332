package rego_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/policy"
	"spokeshave.dev/controller/policy/rego"
)

var update = flag.Bool("update", false, "write the published schemas anew")

// TestSchemas keeps the schemas that editors and `opa check --schema` use
// equal to those that policies are checked against.
func TestSchemas(t *testing.T) {
	for _, hook := range []policy.Hook{policy.HookRank, policy.HookConsolidate, policy.HookCeiling} {
		path := filepath.Join("..", "..", "..", "sdk", "schemas", string(hook)+".input.json")
		schema := rego.Schema(hook)
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

// TestFields: the input has every field that the model's JSON names have.
func TestFields(t *testing.T) {
	docs := map[string]struct {
		schema map[string]any
		of     any
	}{
		"candidate": {rego.Schema(policy.HookConsolidate), policy.Candidate{}},
		"launch":    {rego.Schema(policy.HookCeiling), policy.Launch{}},
		"pool":      {rego.Schema(policy.HookRank), policy.PoolFacts{}},
	}
	for name, tc := range docs {
		raw, err := json.Marshal(tc.of)
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		doc := tc.schema["properties"].(map[string]any)[name].(map[string]any)["properties"].(map[string]any)
		for field := range want {
			if doc[field] == nil {
				t.Errorf("input.%s has no %s", name, field)
			}
		}
		if len(doc) != len(want) {
			t.Errorf("input.%s has %d fields, the model %d", name, len(doc), len(want))
		}
	}
}
