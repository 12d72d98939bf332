package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/record/observe"
)

// codes returns the exit codes that a help text names, in order.
func codes(help string) []string {
	_, text, _ := strings.Cut(help, "Exit codes: ")
	text, _, _ = strings.Cut(text, "\n\n")
	out := regexp.MustCompile(`\b[0-9]\b`).FindAllString(strings.ReplaceAll(text, "--wait 0", ""), -1)
	slices.Sort(out)
	return out
}

// TestManual: the documents name every command with its output formats and exit codes,
// and no other command.
func TestManual(t *testing.T) {
	text, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\| ([^|]+) \\| ([^|]+) \\|$").FindAllStringSubmatch(string(text), -1) {
		got = append(got, strings.Join(row[1:], ": "))
	}
	for _, c := range leaves(rootCommand(t.Context())) {
		forms := strings.ReplaceAll(c.Flags().Lookup("output").Usage, " or ", ", ")
		want = append(want, strings.Join([]string{strings.TrimPrefix(c.CommandPath(), "spokeshave "), forms, strings.Join(codes(c.Long), ", ")}, ": "))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the commands (-) and docs/cli.md (+) differ:\n%s", diff)
	}
}

// TestGroups: a command with subcommands lists them. A misspelt subcommand fails, so
// that a script does not mistake the help for success.
func TestGroups(t *testing.T) {
	for _, group := range []string{"policy", "catalog"} {
		if code, stdout, stderr := command(t, group); code != exitOK || !strings.Contains(stdout, "Available Commands:") || stderr != "" {
			t.Errorf("%s: exit %d: %s%s", group, code, stdout, stderr)
		}
		if code, stdout, stderr := command(t, group, "vett", "policies"); code != exitBadInput || stdout != "" || !strings.Contains(stderr, `unknown command "vett"`) {
			t.Errorf("%s vett: exit %d: %s%s", group, code, stdout, stderr)
		}
	}
}

// TestOutputForms: an unknown output format is bad input and prints nothing on standard
// output.
func TestOutputForms(t *testing.T) {
	arguments := map[string][]string{
		"simulate": {"-f", "testdata/unscheduled.yaml"}, "catalog export": {"--region", "us-west-2"}, "explain": {"pod", "web"}, "replay": {"x"},
		"policy new": {"rank", "x"}, "policy vet": {"x"}, "policy test": {"x"}, "policy bench": {"x"}, "policy diff": {"x", "y"}, "policy pack": {"x"}, "policy push": {"x"},
	}
	for _, c := range leaves(rootCommand(t.Context())) {
		name := strings.TrimPrefix(c.CommandPath(), "spokeshave ")
		code, stdout, stderr := command(t, slices.Concat(strings.Fields(name), arguments[name], []string{"-o", "xml"})...)
		if code != exitBadInput || stdout != "" || !strings.Contains(stderr, "-o xml: want ") {
			t.Errorf("%s -o xml: exit %d: %s%s", name, code, stdout, stderr)
		}
	}
}

// TestNegative: a negative result that is no error has its own exit code, and is
// printed as JSON where the command has JSON output.
func TestNegative(t *testing.T) {
	if testing.Short() {
		t.Skip("loads policies")
	}
	server := controller(t)
	var idle observe.Observer
	mux := http.NewServeMux()
	mux.Handle("/observed", &idle)
	mux.Handle("/failures", &journal.Failures{})
	nothing := httptest.NewServer(mux)
	t.Cleanup(nothing.Close)
	workplace(t)
	// The replayed decision differs, because the recorded bytes are those of another
	// decision.
	line, err := os.ReadFile("decisions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]json.RawMessage
	if err := json.Unmarshal(line, &record); err != nil {
		t.Fatal(err)
	}
	record["decision"] = json.RawMessage(`{"id":"another"}`)
	if line, err = json.Marshal(record); err != nil {
		t.Fatal(err)
	}
	bad := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad, namespace: spokeshave, labels: {spokeshave.dev/policy: \"true\"}}\ndata:\n  policy.yaml: \"hoks: []\"\n"
	huge := "apiVersion: v1\nkind: Pod\nmetadata: {name: huge}\nspec: {containers: [{name: a, resources: {requests: {cpu: 10k}}}]}\n"
	nodePool := "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: lost}\nspec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: none}}}}\n"
	budget, err := os.ReadFile("budget.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tight := strings.ReplaceAll(string(budget), "hourly_usd: 2\n", "hourly_usd: 0.1\n")
	for name, text := range map[string]string{
		"lost.yaml": nodePool, "tight.yaml": tight, "other.jsonl": string(line) + "\n", "bad.yaml": bad, "huge.yaml": huge,
		"groups-without-role.yaml": strings.ReplaceAll(eksctlFile, ", iam: {instanceRoleName: nodes}", ""),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		args []string
		code int
		json bool
	}{
		"simulate":     {[]string{"-f", "pools", "-f", "huge.yaml"}, exitUnscheduled, true},
		"convert":      {[]string{"-f", "groups-without-role.yaml"}, exitUnscheduled, true},
		"doctor":       {[]string{"-f", "pools", "-f", "lost.yaml"}, exitUnscheduled, true},
		"explain":      {[]string{"pod", "none", "--server", server}, exitUnscheduled, true},
		"observe":      {[]string{"--server", nothing.URL}, exitUnscheduled, false},
		"spend":        {[]string{"-f", "huge.yaml"}, exitUnscheduled, false},
		"spend export": {[]string{"-f", "huge.yaml"}, exitUnscheduled, false},
		"failures":     {[]string{"--server", nothing.URL}, exitUnscheduled, false},
		"replay":       {[]string{"other.jsonl"}, exitDiffers, true},
		"policy vet":   {[]string{"bad.yaml"}, exitRefused, true},
		"policy test":  {[]string{"bad.yaml"}, exitRefused, false},
		"policy bench": {[]string{"bad.yaml"}, exitRefused, false},
		"policy diff":  {[]string{"budget.yaml", "tight.yaml", "-f", "manifests"}, exitRefused, true},
		"policy pack":  {[]string{"bad.yaml"}, exitRefused, false},
		"policy push":  {[]string{"bad.yaml"}, exitRefused, false},
	}
	for _, c := range leaves(rootCommand(t.Context())) {
		name := strings.TrimPrefix(c.CommandPath(), "spokeshave ")
		tc, tried := cases[name]
		all := strings.Join(codes(c.Long), "")
		if negative := strings.Contains(all, "3") || strings.Contains(all, "1") && !strings.Contains(c.Long, "1 a defect"); negative != tried {
			t.Errorf("%s has exit codes %s; tried for a negative answer: %t", name, all, tried)
		}
		if !tried {
			continue
		}
		code, stdout, stderr := command(t, slices.Concat(strings.Fields(name), tc.args, []string{"-o", "json"})...)
		if code != tc.code || tc.json != json.Valid([]byte(stdout)) || !tc.json && stderr == "" {
			t.Errorf("%s: exit %d, want %d and JSON %t: %s%s", name, code, tc.code, tc.json, stdout, stderr)
		}
	}
}
