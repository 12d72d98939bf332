package rego_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/rego"
)

var moment = policy.Call{Time: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC), Seed: 7}

func load(t testing.TB, hook policy.Hook, source, config string) policy.Compiled {
	t.Helper()
	p, err := compile(t, hook, source, config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func compile(t testing.TB, hook policy.Hook, source, config string) (policy.Compiled, error) {
	t.Helper()
	src := &policy.Source{
		Info:  policy.Info{Name: "p", Hooks: []policy.Hook{hook}},
		Files: map[string]string{"p.rego": source},
	}
	if config != "" {
		src.Config = []byte(config)
	}
	return new(rego.Engine).Compile(t.Context(), src)
}

func rows() []policy.RankRow {
	return []policy.RankRow{
		{InstanceType: "m7g.large", Family: "m7g", Zone: "a", CapacityType: model.Spot, Arch: "arm64", Billed: 0.04, Cost: 0.04, OnDemand: 0.08, VCPU: 2, MemoryGiB: 8, Interruption: 0.05},
		{InstanceType: "m7i.large", Family: "m7i", Zone: "b", CapacityType: model.OnDemand, Arch: "amd64", Billed: 0.1, Cost: 0.1, OnDemand: 0.1, VCPU: 2, MemoryGiB: 8},
		{InstanceType: "g5.xlarge", Family: "g5", Zone: "a", CapacityType: model.OnDemand, Arch: "amd64", Billed: 1, Cost: 2, OnDemand: 1, VCPU: 4, MemoryGiB: 16, GPUs: 1},
	}
}

func TestRank(t *testing.T) {
	excluded := func(reason string) policy.RankAnswer { return policy.RankAnswer{Exclude: true, Reason: reason} }
	cases := map[string]struct {
		reason, source, config string
		want                   []policy.RankAnswer
		fault                  policy.FaultKind
		message                string
	}{
		"constant": {
			reason: "a factor for all changes every row",
			source: `multiplier["twice"] := 2`,
			want:   []policy.RankAnswer{{Score: 0.08, Reason: "twice"}, {Score: 0.2, Reason: "twice"}, {Score: 4, Reason: "twice"}},
		},
		"one": {
			reason: "a factor of 1 is no reason",
			source: `multiplier["billed price"] := 1`,
			want:   []policy.RankAnswer{{Score: 0.04}, {Score: 0.1}, {Score: 2}},
		},
		"by facts": {
			reason: "rules look at the offering, the pool and the configuration",
			source: `
				multiplier["arm"] := data.config.arm if input.offering.arch == "arm64"
				multiplier[reason] := w if { some family, w in data.config.family; input.offering.family == family; reason := sprintf("family %s", [family]) }
				adder["licence"] := 0.5 * input.offering.vcpu if input.pool.labels.licensed == "yes"
				exclude contains "no GPUs here" if { input.offering.gpus > 0; input.pool.name != "gpu" }`,
			config: `{"arm": 0.5, "family": {"m7i": 2, "zz": 3}}`,
			want:   []policy.RankAnswer{{Score: 1.02, Reason: "arm; licence"}, {Score: 1.2, Reason: "family m7i; licence"}, excluded("no GPUs here")},
		},
		"cost so far": {
			reason: "the cost is the one so far, not the billed price",
			source: `exclude contains "dear" if input.offering.cost > 1.5`,
			want:   []policy.RankAnswer{{Score: 0.04}, {Score: 0.1}, excluded("dear")},
		},
		"zero": {
			reason: "nodes that are paid for cost nothing",
			source: `multiplier["paid"] := 0 if input.offering.running < 3`,
			want:   []policy.RankAnswer{{Reason: "paid"}, {Reason: "paid"}, {Reason: "paid"}},
		},
		"conflict": {
			reason: "two values for one reason are a fault, with the line",
			source: "multiplier[\"x\"] := 2 if input.offering.vcpu > 1\nmultiplier[\"x\"] := 3 if input.offering.arch == \"arm64\"",
			fault:  policy.FaultTrap, message: "p.rego:",
		},
		"division": {
			reason: "an error in a built-in is a fault, not silence",
			source: `multiplier["x"] := 1 / input.offering.gpus`,
			fault:  policy.FaultTrap, message: "divide by zero",
		},
		"negative": {reason: "factors are not negative", source: `multiplier["x"] := -1`, fault: policy.FaultBadReply, message: `multiplier["x"] is -1`},
		"sum":      {reason: "the cost is not negative", source: `adder["x"] := -1`, fault: policy.FaultBadReply, message: "the effective cost is -0.96"},
		"string":   {reason: "factors are numbers", source: `multiplier["x"] := "2"`, fault: policy.FaultBadReply, message: "not a number"},
		"huge":     {reason: "factors are finite", source: `multiplier["x"] := 1e999`, fault: policy.FaultBadReply, message: "out of range"},
		"key":      {reason: "reasons are strings", source: `multiplier[x] := 2 if x := input.offering.vcpu`, fault: policy.FaultBadReply, message: "not a string"},
		"reason":   {reason: "reasons of a set are strings", source: `exclude contains input.offering.vcpu`, fault: policy.FaultBadReply, message: "not a string"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := compile(t, policy.HookRank, "package spokeshave.rank\n"+tc.source, tc.config)
			var got []policy.RankAnswer
			if err == nil {
				got, err = p.Rank(t.Context(), &policy.RankInput{
					Call: moment, Rows: rows(),
					Pool: policy.PoolFacts{Name: "general", Labels: map[string]string{"licensed": "yes"}},
				})
			}
			checkFault(t, tc.reason, err, tc.fault, tc.message)
			if diff := cmp.Diff(tc.want, got, cmp.Comparer(close)); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

func close(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }

func checkFault(t *testing.T, reason string, err error, kind policy.FaultKind, message string) {
	t.Helper()
	var fault *policy.Fault
	switch {
	case kind == "" && err != nil:
		t.Errorf("%s: %v", reason, err)
	case kind == "":
	case !errors.As(err, &fault) || fault.Kind != kind || !strings.Contains(err.Error(), message):
		t.Errorf("%s: want a fault %s with %q, got %v", reason, kind, message, err)
	}
}

func TestConsolidate(t *testing.T) {
	cases := map[string]struct {
		reason, source, config string
		want                   policy.ConsolidateAnswer
		fault                  policy.FaultKind
		message                string
	}{
		"allow":   {reason: "no reason against it", source: `deny contains "cheap" if input.candidate.savings < 0.1`, want: policy.ConsolidateAnswer{Verdict: policy.Allow}},
		"deny":    {reason: "all reasons are told", source: `deny contains msg if { some z in ["b", "a"]; msg := sprintf("zone %s", [z]) }`, want: policy.ConsolidateAnswer{Verdict: policy.Deny, Reason: "zone a; zone b"}},
		"hold":    {reason: "the longest hold counts", source: "hold[\"short\"] := 10\nhold[\"long\"] := 60 if input.candidate.ageSeconds < 100", want: policy.ConsolidateAnswer{Verdict: policy.Hold, HoldSeconds: 60, Reason: "long"}},
		"both":    {reason: "a refusal outlasts a hold", source: "hold[\"x\"] := 10\ndeny contains \"y\"", want: policy.ConsolidateAnswer{Verdict: policy.Deny, Reason: "y"}},
		"cost":    {reason: "costs add up", source: "cost[\"pods\"] := input.candidate.pods\ncost[\"b\"] := 0.5", want: policy.ConsolidateAnswer{Verdict: policy.Allow, Cost: 3.5}},
		"labels":  {reason: "labels are looked up", source: `deny contains "kept" if input.candidate.labels["example.com/keep"] == data.config.value`, config: `{"value": "yes"}`, want: policy.ConsolidateAnswer{Verdict: policy.Deny, Reason: "kept"}},
		"clock":   {reason: "the clock is the decision's", source: `deny contains w if w := time.weekday(time.now_ns())`, want: policy.ConsolidateAnswer{Verdict: policy.Deny, Reason: "Saturday"}},
		"seconds": {reason: "holds are not negative", source: `hold["x"] := -1`, fault: policy.FaultBadReply, message: "at least 0"},
		"trap":    {reason: "an error never becomes an allow", source: `deny contains "x" if 1 / (input.candidate.pods - 3) > 1`, fault: policy.FaultTrap, message: "p.rego:2:"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := load(t, policy.HookConsolidate, "package spokeshave.consolidate\n"+tc.source, tc.config)
			got, err := p.Consolidate(t.Context(), &policy.ConsolidateInput{Call: moment, Candidates: []policy.Candidate{{
				Node: "n", Method: "Underutilized", Savings: 0.5, Pods: 3, AgeSeconds: 50, Labels: map[string]string{"example.com/keep": "yes"},
			}}})
			checkFault(t, tc.reason, err, tc.fault, tc.message)
			if tc.fault == "" && (len(got) != 1 || got[0] != tc.want) {
				t.Errorf("%s: want %+v, got %+v", tc.reason, tc.want, got)
			}
		})
	}
}

func TestCeiling(t *testing.T) {
	one := map[string]policy.Cap{"cluster": {HourlyUSD: new(1.0)}}
	cases := map[string]struct {
		reason, source, config string
		caps                   map[string]policy.Cap
		deny                   map[int][]string
		fault                  policy.FaultKind
		message                string
	}{
		"caps": {
			reason: "one object per scope", source: `cap[scope] := limit if some scope, limit in data.config.caps`,
			config: `{"caps": {"cluster": {"hourly_usd": 25, "monthly_usd": 100}, "label/team=a": {"monthly_usd": 3, "soft": true}}}`,
			caps:   map[string]policy.Cap{"cluster": {HourlyUSD: new(25.0), MonthlyUSD: new(100.0)}, "label/team=a": {MonthlyUSD: new(3.0), Soft: true}},
		},
		"spend":    {reason: "caps may look at what is spent", source: `cap["cluster"] := {"hourly_usd": input.spend.cluster.runningUSD / 4}`, caps: one},
		"time":     {reason: "and at the time", source: `cap["cluster"] := {"hourly_usd": 1} if time.weekday(time.parse_rfc3339_ns(input.time)) == "Saturday"`, caps: one},
		"deny":     {reason: "launches are refused one by one", source: `deny contains "GPU" if input.launch.gpus > 0`, deny: map[int][]string{1: {"GPU"}}},
		"spaces":   {reason: "lists are searched", source: `deny contains "x" if "web" in input.launch.namespaces`, deny: map[int][]string{0: {"x"}}},
		"conflict": {reason: "two caps for one scope conflict", source: "cap[\"cluster\"] := {\"hourly_usd\": 1}\ncap[s] := {\"hourly_usd\": 2} if some s in [\"cluster\"]", fault: policy.FaultTrap},
		"negative": {reason: "caps are not negative", source: `cap["cluster"] := {"hourly_usd": -1}`, fault: policy.FaultBadReply, message: "at least 0"},
		"misspelt": {reason: "a misspelt bound is not no bound", source: `cap["cluster"] := {"hourlyUSD": 1}`, fault: policy.FaultBadReply, message: "hourlyUSD"},
		"scope":    {reason: "a misspelt scope is not no cap", source: `cap["nodepools/x"] := {"hourly_usd": 1}`, fault: policy.FaultBadReply, message: "no scope"},
		"number":   {reason: "a cap is an object", source: `cap["cluster"] := 5`, fault: policy.FaultBadReply, message: "not an object"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := compile(t, policy.HookCeiling, "package spokeshave.ceiling\n"+tc.source, tc.config)
			var got policy.CeilingAnswer
			if err == nil {
				got, err = p.Ceiling(t.Context(), &policy.CeilingInput{
					Call:     moment,
					Scopes:   []policy.ScopeSpend{{Scope: "cluster", RunningUSD: 4}},
					Launches: []policy.Launch{{NodePool: "a", Namespaces: []string{"web"}}, {NodePool: "b", GPUs: 1}},
				})
			}
			checkFault(t, tc.reason, err, tc.fault, tc.message)
			if tc.fault != "" {
				return
			}
			if diff := cmp.Diff(policy.CeilingAnswer{Caps: tc.caps, Deny: tc.deny}, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	rank := "package spokeshave.rank\n"
	cases := map[string]struct {
		reason string
		files  map[string]string
		config string
		hooks  []policy.Hook
		want   []string
	}{
		"nothing":   {reason: "there must be rules", want: []string{"no *.rego file"}},
		"syntax":    {reason: "all errors of all files are told", files: map[string]string{"a.rego": rank + "x := ", "b.rego": rank + "y = {"}, want: []string{"a.rego:2:", "b.rego:2:"}},
		"misspelt":  {reason: "a field that does not exist is an error, with its place", files: map[string]string{"a.rego": rank + `exclude contains "x" if input.offering.famly == "m5"`}, want: []string{"a.rego:2:", "famly", "family"}},
		"document":  {reason: "each hook has its own input", files: map[string]string{"a.rego": rank + `exclude contains "x" if input.candidate.node == "m5"`}, want: []string{"a.rego:2:", "candidate"}},
		"no rule":   {reason: "a package without the contract's rules would never say no", files: map[string]string{"a.rego": rank + `multiply["x"] := 2`}, want: []string{"none of its rules", "multiplier"}},
		"no hook":   {reason: "rules that are never asked are a mistake", files: map[string]string{"a.rego": rank + `adder["x"] := 2`, "b.rego": "package spokeshave.ceiling\ndeny contains \"x\""}, want: []string{"spokeshave.ceiling defines deny", "hooks"}},
		"old form":  {reason: "deny[reason] makes an object", files: map[string]string{"a.rego": rank + `exclude["x"] if input.offering.gpus > 0`}, want: []string{"a.rego:2:1", "write `exclude contains"}},
		"complete":  {reason: "a rule that may be undefined is refused", files: map[string]string{"a.rego": rank + `multiplier := {"a": 2} if input.offering.gpus > 0`}, want: []string{"a.rego:2:1", "multiplier[reason] :="}},
		"function":  {reason: "a function answers nothing", files: map[string]string{"a.rego": rank + `exclude(x) := x`}, want: []string{"not a function"}},
		"strict":    {reason: "unused variables are errors", files: map[string]string{"a.rego": rank + `adder["x"] := 2 if { y := 3 }`}, want: []string{"a.rego:2:", "unused"}},
		"http":      {reason: "policies do no I/O", files: map[string]string{"a.rego": rank + `adder["x"] := http.send({"url": "http://example.com", "method": "get"}).body`}, want: []string{"a.rego:2:", "http.send"}},
		"runtime":   {reason: "the environment is not theirs", files: map[string]string{"a.rego": rank + `adder["x"] := count(opa.runtime())`}, want: []string{"opa.runtime"}},
		"random":    {reason: "the seed is the decision's", files: map[string]string{"a.rego": rank + `adder["x"] := rand.intn("a", 5)`}, want: []string{"rand.intn"}},
		"width":     {reason: "one call may not make gigabytes", files: map[string]string{"a.rego": rank + `exclude contains sprintf("%2000000000d", [1])`}, want: []string{"a.rego:2:", "three digits"}},
		"star":      {reason: "nor by its arguments", files: map[string]string{"a.rego": rank + `exclude contains sprintf("%*d", [2000000000, 1])`}, want: []string{"three digits"}},
		"format":    {reason: "nor by its format", files: map[string]string{"a.rego": rank + `exclude contains sprintf(input.pool.name, [1])`}, want: []string{"in quotes"}},
		"test":      {reason: "a failing test refuses the policy and is named", files: map[string]string{"a.rego": rank + `adder["x"] := 2`, "a_test.rego": "package spokeshave.rank_test\nimport data.spokeshave.rank\ntest_it if rank.adder.x == 3\ntest_good if true"}, want: []string{"a_test.rego:3:1", "test_it failed"}},
		"test http": {reason: "tests do no I/O", files: map[string]string{"a.rego": rank + `adder["x"] := 2`, "a_test.rego": "package t\ntest_it if http.send({\"url\": \"http://example.com\", \"method\": \"get\"})"}, want: []string{"a_test.rego:2:", "http.send"}},
		"data":      {reason: "the configuration comes from policy.yaml", files: map[string]string{"a.rego": rank + `adder["x"] := 2`, "data.json": `{"config": {}}`}, want: []string{"data.json", "config"}},
		"data form": {reason: "data.json is an object", files: map[string]string{"a.rego": rank + `adder["x"] := 2`, "data.json": `[]`}, want: []string{"data.json"}},
		"file":      {reason: "other files are not for this engine", files: map[string]string{"a.txt": ""}, want: []string{"a.txt"}},
		"package":   {reason: "a package may not hide the configuration", files: map[string]string{"a.rego": rank + `adder["x"] := 2`, "b.rego": "package config\nx := 1"}, want: []string{"b.rego:1:", "not free"}},
		"size":      {reason: "the source is bounded", files: map[string]string{"a.rego": rank + "# " + strings.Repeat("x", 256<<10)}, want: []string{"at most 262144"}},
		"recursion": {reason: "rules do not recurse", files: map[string]string{"a.rego": rank + `adder["x"] := count(adder)`}, want: []string{"a.rego:2:", "recursive"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			src := &policy.Source{Info: policy.Info{Hooks: tc.hooks}, Files: tc.files, Config: []byte(tc.config)}
			if tc.hooks == nil {
				src.Info.Hooks = []policy.Hook{policy.HookRank}
			}
			_, err := new(rego.Engine).Compile(t.Context(), src)
			if err == nil {
				t.Fatalf("%s: accepted", tc.reason)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: want %q in\n%v", tc.reason, want, err)
				}
			}
		})
	}
}

// TestShipped compiles the policies that the product ships and runs their
// tests.
func TestShipped(t *testing.T) {
	manifests, err := filepath.Glob("../../../policies/*/policy.yaml")
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no policies: %v", err)
	}
	for _, m := range manifests {
		dir := filepath.Dir(m)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			raw, err := os.ReadFile(m)
			if err != nil {
				t.Fatal(err)
			}
			var manifest struct {
				Hooks  []policy.Hook
				Engine string
				Config json.RawMessage
			}
			if err := yaml.Unmarshal(raw, &manifest); err != nil {
				t.Fatal(err)
			}
			if manifest.Engine != rego.Name {
				t.Skip("not written in Rego")
			}
			src := &policy.Source{Info: policy.Info{Hooks: manifest.Hooks}, Files: map[string]string{}, Config: manifest.Config}
			files, err := filepath.Glob(filepath.Join(dir, "*.rego"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				src.Files[filepath.Base(f)] = string(text)
			}
			if _, err := new(rego.Engine).Compile(t.Context(), src); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEvaluated: rules that are no programs are evaluated once for rows that
// look alike to them, the cheapest first, and the policy says which line it is.
func TestEvaluated(t *testing.T) {
	const source = `package spokeshave.rank
multiplier["x"] := 2 if count([k | some k, _ in input.pool.labels]) == 0
adder["y"] := 1 if input.offering.zone == "a"
exclude contains "dear" if input.offering.cost > 1e9
`
	p := rego.Unhurried(load(t, policy.HookRank, source, ""))
	notes := p.Stats().Notes
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "p.rego:2:") || !strings.Contains(notes[0], "multiplier") {
		t.Errorf("notes: %q", notes)
	}
	in := &policy.RankInput{Call: moment, Rows: make([]policy.RankRow, 2100)}
	for i := range in.Rows {
		in.Rows[i].Cost = float64(len(in.Rows) - i)
	}
	got, err := p.Rank(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(in.Rows) {
		t.Fatalf("%d answers for %d rows", len(got), len(in.Rows))
	}
	for i, a := range got {
		if dropped := i < 100; a.Exclude != dropped || !dropped && a.Score != 2*in.Rows[i].Cost {
			t.Fatalf("row %d: %+v", i, a)
		}
	}
}

// TestGuards: only a policy with denials is a guard, for which its caps cannot
// stand in.
func TestGuards(t *testing.T) {
	const budget = "package spokeshave.ceiling\ncap[\"cluster\"] := {\"hourly_usd\": 1}\n"
	if info := load(t, policy.HookCeiling, budget, "").Info(); info.Guards {
		t.Error("a budget is a guard")
	}
	if info := load(t, policy.HookCeiling, budget+`deny contains "x" if input.launch.gpus > 0`, "").Info(); !info.Guards {
		t.Error("a policy that denies is none")
	}
}
