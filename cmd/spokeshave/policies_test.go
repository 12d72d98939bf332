package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// report is the part of simulate's JSON that the tests of policies read.
type report struct {
	Pods  int
	Nodes []struct {
		InstanceType string
		Price        float64
		Pods         []string
	}
	Unscheduled []struct {
		Pod     string
		Reasons []struct{ Code, Policy, Message string }
	}
	HourlyCost float64
	Policies   []struct {
		Name, Hook, Engine    string
		Calls, Denied, Faults int
	}
}

func simulateJSON(t *testing.T, wantCode int, args ...string) report {
	t.Helper()
	code, stdout, stderr := command(t, append([]string{"simulate", "-f", "../../examples/quickstart", "-o", "json"}, args...)...)
	if code != wantCode {
		t.Fatalf("exit %d, want %d: %s", code, wantCode, stderr)
	}
	var out report
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func writePolicy(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy-configmap.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDefaultPolicies: the policies that the chart enables by default, and a budget
// without caps, run and change nothing.
func TestDefaultPolicies(t *testing.T) {
	plain, got := simulateJSON(t, exitOK), simulateJSON(t, exitOK, "--policies", "../../policies/cheapest",
		"--policies", "../../policies/keep-protected", "--policies", "../../policies/budget")
	if got.HourlyCost != plain.HourlyCost || len(got.Policies) < 2 {
		t.Errorf("%v $/hour with, %v without; policies %+v", got.HourlyCost, plain.HourlyCost, got.Policies)
	}
	for _, p := range got.Policies {
		if p.Calls == 0 || p.Faults > 0 || p.Engine == "" || p.Hook == "" {
			t.Errorf("%+v", p)
		}
	}
}

const budget = `# a budget
apiVersion: v1
kind: ConfigMap
metadata: {name: budget, namespace: platform, labels: {spokeshave.dev/policy: "true"}}
data:
  policy.yaml: |
    apiVersion: policy.spokeshave.dev/v1alpha1
    hooks: [ceiling]
  budget.rego: |
    package spokeshave.ceiling

    cap.cluster := {"hourly_usd": 0.2}
`

// TestCeiling: a budget is kept, and the pods that wait for it have it as their reason.
func TestCeiling(t *testing.T) {
	path := writePolicy(t, budget)
	for _, flag := range []string{"-f", "--policies"} {
		got := simulateJSON(t, exitUnscheduled, flag, path)
		if got.HourlyCost > 0.2 || got.HourlyCost == 0 || len(got.Unscheduled) == 0 {
			t.Errorf("%s: %v $/hour, %d unscheduled", flag, got.HourlyCost, len(got.Unscheduled))
		}
		for _, u := range got.Unscheduled {
			if len(u.Reasons) == 0 || u.Reasons[0].Code != "CeilingReached" || !strings.Contains(u.Reasons[0].Policy, "budget") {
				t.Errorf("%s: %s waits for %+v", flag, u.Pod, u.Reasons)
			}
		}
	}
}

// TestRank: a rank policy changes what is launched.
func TestRank(t *testing.T) {
	launched := func(args ...string) map[string]bool {
		out := map[string]bool{}
		for _, n := range simulateJSON(t, exitOK, args...).Nodes {
			family, _, _ := strings.Cut(n.InstanceType, ".")
			out[family] = true
		}
		if len(out) == 0 {
			t.Fatal("nothing is launched")
		}
		return out
	}
	for family := range launched() {
		path := writePolicy(t, strings.NewReplacer("[ceiling]", "[rank]", "spokeshave.ceiling", "spokeshave.rank",
			`cap.cluster := {"hourly_usd": 0.2}`, `exclude contains "not here" if input.offering.family == "`+family+`"`).Replace(budget))
		if launched("--policies", path)[family] {
			t.Errorf("%s is launched, which the policy excludes", family)
		}
	}
}

func TestBadPolicies(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"rego":     {strings.Replace(budget, "cap.cluster :=", "cap.cluster :=:", 1), "budget.rego:3"},
		"manifest": {strings.Replace(budget, "hooks:", "hoks:", 1), "policy-configmap.yaml:2: load policy platform/budget: policy.yaml"},
		"twice":    {budget + "---\n" + strings.Replace(budget, "# a budget\n", "", 1), "policy-configmap.yaml:16: ConfigMap platform/budget stands at "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			path := writePolicy(t, tc.text)
			code, _, stderr := command(t, "simulate", "-f", "../../examples/quickstart", "--policies", path)
			if code != exitBadInput || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit %d: %s\nwant %s", code, stderr, tc.want)
			}
		})
	}
}

// TestPolicyDoesNotCompile: a policy whose Go program does not compile is a wrong policy, as one
// in Rego is, and no bad flag or file. The compiler's message names file and line.
func TestPolicyDoesNotCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	workplace(t)
	if code, _, stderr := command(t, "policy", "new", "rank", "broken", "--lang", "go"); code != exitOK {
		t.Fatal(stderr)
	}
	if err := os.WriteFile("broken/main.go", []byte("package main\n\nfunc main( {\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"vet": {"broken"}, "test": {"broken"}, "bench": {"broken"}, "diff": {"broken", "broken", "-f", "manifests"}, "pack": {"broken"}, "push": {"broken"},
	} {
		code, stdout, stderr := command(t, append([]string{"policy", name}, args...)...)
		if code != exitRefused || stdout != "" || !strings.Contains(stderr, "policy "+name+": build policy broken") || !strings.Contains(stderr, "main.go:3:") {
			t.Errorf("policy %s: exit %d: %s%s", name, code, stdout, stderr)
		}
	}
}
