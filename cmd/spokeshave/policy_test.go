package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// folder writes a policy's folder, with file names and texts in turn.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mine")
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	ranking  = "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\nconfig: {factor: 2}\n"
	doubling = "package spokeshave.rank\n\nmultiplier[\"dear\"] := data.config.factor if input.offering.family == \"m7i\"\n"
	oneCase  = "cases:\n- name: one\n  hook: rank\n  input: {offerings: [{billed: 1, instanceType: m7i.large}]}\n  expect: {scores: {m7i.large: 2}}\n"
)

func TestPolicyVet(t *testing.T) {
	code, stdout, stderr := command(t, "policy", "vet", folder(t, "policy.yaml", ranking, "a.rego", doubling))
	if code != exitOK || !strings.HasPrefix(stdout, "ok  spokeshave/mine  rego rank") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	cases := map[string]struct {
		reason string
		files  []string
		args   []string
		code   int
		want   string
	}{
		"rego":     {"a mistake has its line", []string{"policy.yaml", ranking, "a.rego", doubling + "multiplier"}, nil, exitRefused, "load policy spokeshave/mine: a.rego:4"},
		"settings": {"in the words of the controller", []string{"policy.yaml", "hoks: []\n" + ranking, "a.rego", doubling}, nil, exitRefused, `load policy spokeshave/mine: policy.yaml:1:1: unknown field "hoks": did you mean hooks?`},
		"no code":  {"nothing to run", []string{"policy.yaml", ranking}, nil, exitRefused, "the policy has no code"},
		"module":   {"a module that is none", []string{"policy.yaml", "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\n", "module.wasm", "x"}, nil, exitRefused, "module"},
		"plugin": {
			reason: "ceilings are for the controller's namespace",
			files:  []string{"policy.yaml", strings.Replace(ranking, "rank", "ceiling", 1), "a.rego", "package spokeshave.ceiling\n\ncap[\"cluster\"] := {\"hourly_usd\": 1}\n"},
			args:   []string{"--controller-namespace", "elsewhere"}, code: exitRefused, want: "hook ceiling is for policies in namespace elsewhere",
		},
		"unbuilt": {"a compiler has to come first", []string{"policy.yaml", ranking, "policy.c", "int x;"}, nil, exitUnread, "no module.wasm: build it first, its source begins in policy.c"},
		"nothing": {"no policy there", []string{"README.md", "x"}, nil, exitUnread, "holds no .yaml"},
		"output":  {"a form that there is not", []string{"policy.yaml", ranking}, []string{"-o", "xml"}, exitUnread, "-o xml: want table or json"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := command(t, append([]string{"policy", "vet", folder(t, tc.files...)}, tc.args...)...)
			if code != tc.code || !strings.Contains(stderr, tc.want) {
				t.Errorf("%s: exit %d, want %d: %s\nwant %s", tc.reason, code, tc.code, stderr, tc.want)
			}
		})
	}
}

func TestPolicyTest(t *testing.T) {
	dir := folder(t, "policy.yaml", ranking, "a.rego", doubling, "cases/a.yaml", oneCase)
	if code, stdout, stderr := command(t, "policy", "test", "-v", dir); code != exitOK || stdout != "ok    mine: one\n1 cases, 0 failed\n" {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	dir = folder(t, "policy.yaml", ranking, "a.rego", doubling, "cases/a.yaml", strings.Replace(oneCase, ": 2}", ": 3}", 1))
	code, stdout, _ := command(t, "policy", "test", dir)
	if want := "cases/a.yaml:5: score of m7i.large: want 3, got 2"; code != exitRefused || !strings.Contains(stdout, want) {
		t.Errorf("exit %d: %s\nwant %s", code, stdout, want)
	}
	dir = folder(t, "policy.yaml", ranking, "a.rego", doubling, "cases/a.yaml", "cases: 1")
	if code, _, stderr := command(t, "policy", "test", dir); code != exitUnread || !strings.Contains(stderr, "cases/a.yaml:1") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestPolicyPack(t *testing.T) {
	dir := folder(t, "policy.yaml", ranking, "a.rego", doubling, "README.md", "x", "cases/a.yaml", oneCase)
	code, stdout, stderr := command(t, "policy", "pack", dir, "--name", "other", "-n", "team")
	if code != exitOK || !strings.Contains(stderr, "team/other: rego, ") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var cm corev1.ConfigMap
	if err := yaml.UnmarshalStrict([]byte(stdout), &cm); err != nil {
		t.Fatal(err)
	}
	if cm.Name != "other" || cm.Namespace != "team" || cm.Labels["spokeshave.dev/policy"] != "true" || len(cm.Data) != 2 {
		t.Errorf("%+v", cm)
	}
	// The output of pack is valid input for vet and simulate.
	path := writePolicy(t, stdout)
	if code, _, stderr := command(t, "policy", "vet", path); code != exitOK {
		t.Error(stderr)
	}
	if code, _, stderr := command(t, "policy", "pack", dir, "--name", "No Name"); code != exitUnread || !strings.Contains(stderr, "--name") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	big := folder(t, "policy.yaml", ranking, "a.rego", doubling, "data.json", `{"x": "`+strings.Repeat("x", 1<<20)+`"}`)
	if code, _, stderr := command(t, "policy", "pack", big); code != exitRefused || !strings.Contains(stderr, "a ConfigMap holds 1048576; the largest part is data.json") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestPolicyGo builds a Go program, or gives an error that says what is missing.
func TestPolicyGo(t *testing.T) {
	code, stdout, stderr := command(t, "policy", "vet", "../../examples/wasm-rank-go", "-o", "json")
	var found []struct {
		Engine string
		Size   int
	}
	if err := json.Unmarshal([]byte(stdout), &found); err != nil || code != exitOK || len(found) != 1 || found[0].Engine != "wasm" {
		t.Errorf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	dir := folder(t, "policy.yaml", "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\n", "main.go", "package main\n\nfunc main() { nothing() }\n", "go.mod", "module mine\n\ngo 1.24\n")
	if code, _, stderr := command(t, "policy", "vet", dir); code != exitRefused || !strings.Contains(stderr, "main.go:3:15: undefined: nothing") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	t.Setenv("PATH", t.TempDir())
	if code, _, stderr := command(t, "policy", "pack", dir); code != exitUnread || !strings.Contains(stderr, "there is no go command: install Go from https://go.dev/dl") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestPolicyNoCluster: commands that need a cluster fail with an error that says so.
func TestPolicyNoCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	dir := folder(t, "policy.yaml", ranking, "a.rego", doubling)
	for _, args := range [][]string{{"list"}, {"push", dir}} {
		if code, _, stderr := command(t, append([]string{"policy"}, args...)...); code != exitUnread || !strings.Contains(stderr, "--kubeconfig") {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}

// TestPolicyBench: every hook is measured, and the error of a failing policy is
// reported.
func TestPolicyBench(t *testing.T) {
	dir := folder(t, "policy.yaml", ranking, "a.rego", doubling)
	code, stdout, stderr := command(t, "policy", "bench", dir, "--for", "1ms", "-o", "json")
	var got []struct {
		Hook               string
		Rows, Calls, Size  int
		NsPerRow, LoadMs   float64
		FuelPerRow, Faults float64
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitOK || len(got) != 1 {
		t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	if m := got[0]; m.Hook != "rank" || m.Rows < 1000 || m.Calls < 3 || m.Size == 0 || m.NsPerRow <= 0 || m.LoadMs <= 0 {
		t.Errorf("%+v", m)
	}
	bad := folder(t, "policy.yaml", ranking, "a.rego", "package spokeshave.rank\n\nadder[\"negative\"] := -1000\n")
	if code, _, stderr := command(t, "policy", "bench", bad, "--for", "1ms"); code != exitRefused || !strings.Contains(stderr, "BadReply") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestPolicyDiff: fewer nodes are launched with a lower budget.
func TestPolicyDiff(t *testing.T) {
	const one = "package spokeshave.ceiling\n\ncap[\"cluster\"] := {\"hourly_usd\": 2}\n"
	settings := strings.Replace(ranking, "rank", "ceiling", 1)
	before := folder(t, "policy.yaml", settings, "a.rego", one)
	after := folder(t, "policy.yaml", settings, "a.rego", strings.Replace(one, "2}", "0.2}", 1))
	args := []string{"policy", "diff", before, after, "-f", "../../examples/quickstart", "--time", "2026-01-01T00:00:00Z"}
	code, stdout, stderr := command(t, append(args, "-o", "json")...)
	var d struct {
		Old, New struct {
			HourlyCost  float64
			Unscheduled int
		}
		Nodes   []struct{ Old, New int }
		Waiting []struct{ Reason []string }
		Placed  []any
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != exitRefused {
		t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	if d.New.HourlyCost > 0.2 || d.Old.HourlyCost <= 0.2 || len(d.Nodes) == 0 || len(d.Placed) != 0 ||
		len(d.Waiting) != d.New.Unscheduled || len(d.Waiting) == 0 || !strings.Contains(strings.Join(d.Waiting[0].Reason, ""), "cap mine") {
		t.Errorf("%s", stdout)
	}
	if code, stdout, _ := command(t, args...); code != exitRefused || !strings.Contains(stdout, "waits   ") || !strings.Contains(stdout, " $/h, was ") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	args[3] = before
	if code, stdout, _ := command(t, args...); code != exitOK || !strings.Contains(stdout, "(+0.0000)") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

// TestPolicyDiffOfRunningNodes: a consolidate policy changes which nodes are removed.
func TestPolicyDiffOfRunningNodes(t *testing.T) {
	const one = "package spokeshave.consolidate\n\nhold[\"too young\"] := 60 if input.candidate.ageSeconds < 1800\n"
	settings := strings.Replace(ranking, "rank", "consolidate", 1)
	before := folder(t, "policy.yaml", settings, "a.rego", one)
	after := folder(t, "policy.yaml", settings, "a.rego", strings.Replace(one, "1800", "60", 1))
	args := []string{"policy", "diff", before, after, "-f", "../../policies/testdata/running-nodes", "--time", "2026-01-05T12:00:00Z"}
	code, stdout, stderr := command(t, append(args, "-o", "json")...)
	var d struct {
		Old, New struct {
			Removed int
			Savings float64
		}
		Removed, Kept []struct{ Node, Policy, Reason string }
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != exitRefused {
		t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	if d.Old.Removed != 1 || d.New.Removed != 2 || d.New.Savings <= d.Old.Savings || len(d.Kept) != 0 ||
		len(d.Removed) != 1 || d.Removed[0].Node != "young" || d.Removed[0].Reason != "too young" {
		t.Errorf("%s", stdout)
	}
	if code, stdout, _ := command(t, args...); code != exitRefused || !strings.Contains(stdout, "removed young (Empty), which stayed: mine: too young") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}
