package rego_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/rego"
)

// heap returns how many bytes of this process's heap are in use. What is in a sync.Pool survives
// one collection.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// largePatterns returns a configuration with patterns which take a MiB each when they are compiled, and globs
// that take 100 KiB. They begin with the name, so that no two tests share one: fewer than OPA keeps in all.
func largePatterns(t *testing.T, name string) []byte {
	t.Helper()
	var c struct{ Patterns, Globs []string }
	for i := range 8 {
		c.Patterns = append(c.Patterns, fmt.Sprint(name, i, strings.Repeat("[a-z]{900}", 20)))
	}
	for i := range 20 {
		c.Globs = append(c.Globs, fmt.Sprint(name, i, strings.Repeat("{a,b[c-d]}*?", 300)))
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestPatternsAreDropped: nothing of what patterns were compiled to is left after a question. It would be in no
// policy's share of the memory.
func TestPatternsAreDropped(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, rule, test string
		byOPA              bool
	}{
		"program":    {reason: "a built-in that a program calls", rule: `deny contains "x" if { some p in data.config.Patterns; regex.match(concat("", [p, node]), node) }`},
		"opa":        {reason: "a built-in that OPA calls", byOPA: true, rule: `deny contains "x" if { count([1 | some p in data.config.Patterns; regex.match(p, node)]) > 0 }`},
		"split":      {reason: "each built-in has its own call", rule: `deny contains "x" if { some p in data.config.Patterns; count(regex.split(concat("", [p, node]), node)) > 1 }`},
		"find":       {reason: "each built-in has its own call", rule: `deny contains "x" if { some p in data.config.Patterns; count(regex.find_n(concat("", [p, node]), node, 1)) > 0 }`},
		"replace":    {reason: "each built-in has its own call", rule: `deny contains "x" if { some p in data.config.Patterns; regex.replace(node, concat("", [p, node]), "") == "" }`},
		"glob":       {reason: "globs have a cache of their own in OPA", rule: `deny contains "x" if { some p in data.config.Globs; glob.match(concat("", [p, node]), [], node) }`},
		"opa glob":   {reason: "globs have a cache of their own in OPA", byOPA: true, rule: `deny contains "x" if { count([1 | some p in data.config.Globs; glob.match(p, [], node)]) > 0 }`},
		"at load":    {reason: "partial evaluation calls built-ins", rule: `deny contains "x" if { some p in data.config.Patterns; regex.match(p, "n"); node == "m" }`},
		"in a test":  {reason: "so do the policy's tests", rule: `deny contains "x" if node == "m"`, test: `test_a if { every p in data.config.Patterns { not regex.match(p, "n") } }`},
		"any prefix": {reason: "OPA keeps collections of texts once there is a cache", byOPA: true, rule: `deny contains "x" if { some i in numbers.range(1, 3); all := {t | some k in numbers.range(1, 20000); t := concat("-", [node, format_int(k, 16)])}; strings.any_prefix_match([node, format_int(i, 10)], all) }`},
	} {
		t.Run(name, func(t *testing.T) {
			src := &policy.Source{
				Info:   policy.Info{Name: "p", Hooks: []policy.Hook{policy.HookConsolidate}},
				Files:  map[string]string{"p.rego": "package spokeshave.consolidate\nnode := input.candidate.node\n" + tc.rule + "\n"},
				Config: largePatterns(t, name),
			}
			if tc.test != "" {
				src.Files["p_test.rego"] = "package spokeshave.consolidate\n" + tc.test + "\n"
			}
			before := heap()
			p, err := new(rego.Engine).Compile(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			if notes := p.Stats().Notes; (len(notes) > 0) != tc.byOPA {
				t.Errorf("notes %q", notes)
			}
			in := &policy.ConsolidateInput{Call: moment, Candidates: []policy.Candidate{{Node: "n"}}}
			if _, err := rego.Unhurried(p).Consolidate(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if grown := heap() - before; grown > 1<<20 {
				t.Errorf("%s: %d KiB are left after a question", tc.reason, grown>>10)
			}
		})
	}
}

// TestPatternCompiledOnce: a pattern that a rule tries on each of 1,000 offerings is compiled once in a
// question.
func TestPatternCompiledOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory, which the race detector takes for itself")
	}
	expression := `"^(m7g|[a-z]{1000}[0-9]{1000}[a-z]{1000}[0-9]{1000})[.]"`
	glob := `"c9i*` + strings.Repeat("{a,b[c-d]}*?", 300) + `"`
	for name, rule := range map[string]string{
		"program": `exclude contains "x" if regex.match(` + expression + `, input.offering.instanceType)`,
		"opa":     `exclude contains "x" if count([1 | regex.match(` + expression + `, input.offering.instanceType)]) > 0`,
		"glob":    `exclude contains "x" if glob.match(` + glob + `, [], input.offering.instanceType)`,
	} {
		t.Run(name, func(t *testing.T) {
			p := rego.Unhurried(load(t, policy.HookRank, "package spokeshave.rank\n"+rule, ""))
			allocated := func(n int) uint64 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if _, err := p.Rank(t.Context(), &policy.RankInput{Call: moment, Rows: offerings(n)}); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			one, all := allocated(1), allocated(1000)
			if one < 100<<10 || all > 100*one {
				t.Errorf("allocated for one offering %d KiB, for 1,000 %d KiB", one>>10, all>>10)
			}
		})
	}
}
