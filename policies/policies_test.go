package policies_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/tester"

	"spokeshave.dev/controller/rehearse/author"
)

// TestCases asks every shipped policy the cases beside it, as compiled by the
// controller's loader and engines.
func TestCases(t *testing.T) {
	manifests, err := filepath.Glob("*/policy.yaml")
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no policies: %v", err)
	}
	for _, m := range manifests {
		dir := filepath.Dir(m)
		t.Run(dir, func(t *testing.T) {
			sources, err := author.Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if f := sources[0].Find(t.Context(), author.Namespace, time.Unix(0, 0)); f.Reason != "" {
				t.Fatal(f.Reason)
			}
			results, err := sources[0].Test(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(results) == 0 {
				t.Error("the policy has no cases")
			}
			for _, r := range results {
				for _, f := range r.Failures {
					t.Errorf("%s\n%s", r.Name, f)
				}
			}
		})
	}
}

// TestRego runs the tests that each policy brings along, in strict mode, as
// they run when the policy is loaded.
func TestRego(t *testing.T) {
	manifests, err := filepath.Glob("*/policy.yaml")
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no policies: %v", err)
	}
	for _, m := range manifests {
		dir := filepath.Dir(m)
		t.Run(dir, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dir, "*.rego"))
			if err != nil || len(files) == 0 {
				t.Skip("not written in Rego")
			}
			modules := map[string]*ast.Module{}
			for _, f := range files {
				source, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				if modules[f], err = ast.ParseModule(f, string(source)); err != nil {
					t.Fatal(err)
				}
			}
			runner := tester.NewRunner().SetCompiler(ast.NewCompiler().WithStrict(true)).SetModules(modules)
			results, err := runner.RunTests(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			ran := 0
			for r := range results {
				ran++
				if !r.Pass() {
					t.Errorf("%s: %s failed: %v", r.Location, r.Name, r.Error)
				}
			}
			if ran == 0 {
				t.Error("the policy has no tests")
			}
		})
	}
}
