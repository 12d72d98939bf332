package load

import (
	"strings"
	"testing"
)

// TestPositions: an author is told where a mistake in policy.yaml is, and what was
// probably meant.
func TestPositions(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, manifest string
		want             []string
	}{
		"hook":     {"a misspelt hook", "hooks: [rank, celing]", []string{`policy.yaml:2:15: hooks: "celing" is not one of rank, consolidate, ceiling: did you mean ceiling?`}},
		"far":      {"nothing near is no suggestion", "hooks: [dance]", []string{`policy.yaml:2:9: hooks: "dance" is not one of rank, consolidate, ceiling`}},
		"list":     {"a word in place of a list", "hooks: ceiling", []string{"policy.yaml:2:8: hooks: want a list: hooks: [ceiling]"}},
		"near":     {"a misspelt word in place of a list", "hooks: celing", []string{"policy.yaml:2:8: hooks: want a list: hooks: [ceiling]"}},
		"empty":    {"a list of nothing", "hooks: []", []string{"policy.yaml:2:8: hooks: name at least one of rank, consolidate, ceiling"}},
		"none":     {"no hooks", "mode: Shadow", []string{"policy.yaml:1:1: hooks: name at least one of rank, consolidate, ceiling"}},
		"field":    {"a misspelt field", "hooks: [rank]\nfailurPolicy: Fail", []string{`policy.yaml:3:1: unknown field "failurPolicy": did you mean failurePolicy?`}},
		"inner":    {"also further inside", "hooks: [rank]\nmatch:\n  nodePool: [a]", []string{`policy.yaml:4:3: match: unknown field "nodePool": did you mean nodePools?`}},
		"case":     {"the case counts", "hooks: [rank]\nfailurePolicy: ignore", []string{`policy.yaml:3:16: failurePolicy: "ignore" is not one of Fail, Ignore: did you mean Ignore?`}},
		"engine":   {"an engine that there is not", "hooks: [rank]\nengine: regu", []string{`policy.yaml:3:9: engine: "regu" is not one of rego, wasm: did you mean rego?`}},
		"type":     {"a value of another type", "hooks: [rank]\npriority: high", []string{"policy.yaml:3:11: priority: want a whole number, not string"}},
		"mapping":  {"a text in place of a mapping", "hooks: [rank]\nlimits: none", []string{"policy.yaml:3:9: limits: want a mapping of deadline, fuel, memory"}},
		"twice":    {"a field twice", "hooks: [rank]\nhooks: [ceiling]", []string{"policy.yaml:3:1: hooks is there twice, first in line 2"}},
		"letters":  {"two letters exchanged", "hooks: [rnak]", []string{`policy.yaml:2:9: hooks: "rnak" is not one of rank, consolidate, ceiling: did you mean rank?`}},
		"bracket":  {"an open bracket, by its line", "hooks: [rank\nmode: x", []string{"policy.yaml:2:1: did not find expected ',' or ']'"}},
		"brace":    {"an open brace, by its line", "hooks: [rank]\nmatch: {\nmode: x\n", []string{"policy.yaml:3:1: did not find expected ',' or '}'"}},
		"indent":   {"a field further to the right", "hooks: [rank]\n  mode: x", []string{"policy.yaml:3:1: did not find expected key"}},
		"tab":      {"a tab in place of spaces", "hooks:\n\t- rank", []string{"policy.yaml:3:1: found character that cannot start any token"}},
		"colons":   {"two colons", "hooks: [rank]\nmode: x: y", []string{"policy.yaml:3:1: mapping values are not allowed in this context"}},
		"quote":    {"an open quote", "hooks: [rank]\nmode: 'x", []string{"policy.yaml:3:1: found unexpected end of stream"}},
		"byte":     {"a byte that YAML does not have", "hooks: [rank]\nmode: \x01", []string{"policy.yaml: yaml: control characters are not allowed"}},
		"pattern":  {"a pattern that is none", "hooks: [rank]\nmatch: {nodePools: ['[']}", []string{`policy.yaml:3:20: match.nodePools: "[" is not a pattern`}},
		"amount":   {"an amount that is none", "hooks: [rank]\nlimits: {fuel: much}", []string{`policy.yaml:3:16: limits.fuel: "much" is no amount such as 50M or 16Mi`}},
		"exponent": {"an amount that would take minutes to read", "hooks: [rank]\nlimits: {memory: 1e-99999999}", []string{`policy.yaml:3:18: limits.memory: "1e-99999999" is no amount`}},
		"hidden":   {"such an amount behind an alias", "hooks: [rank]\nconfig: &a 1e-99999999x\nlimits: {memory: *a}", []string{`policy.yaml: limits: "1e-99999999x" is no amount`}},
		"alias":    {"what an alias hides has the position of the text", "hooks: [rank]\nx-a: &a {nodePools: ['[']}\nmatch: *a", []string{`policy.yaml:3:1: unknown field "x-a"`}},
		"several":  {"all mistakes at once", "hooks: [rnk]\nmod: x", []string{"did you mean rank?", "did you mean mode?"}},
		"no table": {"a list", "- hooks", []string{"policy.yaml:"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseManifest([]byte("apiVersion: " + APIVersion + "\n" + tc.manifest))
			if err == nil {
				t.Fatalf("%s: no error", tc.reason)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error()+"\n", want) {
					t.Errorf("%s: %v, want %s", tc.reason, err, want)
				}
			}
		})
	}
	if _, err := parseManifest([]byte("{hooks: [rank]")); err == nil || !strings.HasPrefix(err.Error(), "policy.yaml:1:1: did not find expected ',' or '}'") {
		t.Errorf("the first line: %v", err)
	}
	if _, err := parseManifest([]byte("apiVersion: policy.spokeshave.dev/v1\nhooks: [rank]")); err == nil || !strings.HasPrefix(err.Error(), `policy.yaml:1:13: apiVersion: "policy.spokeshave.dev/v1": this controller knows `) {
		t.Errorf("version: %v", err)
	}
}

// FuzzManifest: no policy.yaml makes the reader fail other than with an error, and what
// it accepts has hooks.
func FuzzManifest(f *testing.F) {
	for _, text := range []string{"hooks: [rank]", "hooks: &a [*a]", "match: {nodePools: [a, b]}\n<<: {hooks: [ceiling]}", "limits: {deadline: 1s}", "limits: {memory: 1e-99999999, fuel: 1M}", "- {", "a: &x {b: *x}"} {
		f.Add("apiVersion: " + APIVersion + "\n" + text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := parseManifest([]byte(text)); err == nil && len(m.Hooks) == 0 {
			t.Errorf("%q is accepted without hooks", text)
		}
	})
}
