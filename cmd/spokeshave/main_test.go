package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// command runs the command line and returns its exit code and output.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// mask replaces timings, which differ between runs.
func mask(text string) string {
	text = regexp.MustCompile(`("(?:\w*[mM]s)"): [0-9.]+`).ReplaceAllString(text, "$1: 0")
	return regexp.MustCompile(`in [0-9.]+ ms \(read [0-9.]+, snapshot [0-9.]+, solve [0-9.]+\)`).ReplaceAllString(text, "in 0 ms")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", path, diff)
	}
}

// TestSimulate runs whole scenarios.
func TestSimulate(t *testing.T) {
	at := []string{"--time", "2026-01-01T00:00:00Z"}
	consolidate := []string{"-f", "testdata/consolidate.yaml", "--catalog", "testdata/consolidate-catalog.json", "--consolidate"}
	cases := map[string]struct {
		reason string
		args   []string
		code   int
	}{
		"unscheduled.txt":  {"pods that no node can hold say why", []string{"-f", "testdata/unscheduled.yaml"}, exitUnscheduled},
		"existing.json":    {"room on nodes that exist is used first; a dump counts each replica once", []string{"-f", "testdata/existing.yaml", "--catalog", "testdata/catalog.json", "-o", "json"}, exitOK},
		"badinput.txt":     {"what cannot be met is said by name, and the rest is planned", []string{"-f", "testdata/badinput.yaml", "--catalog", "testdata/consolidate-catalog.json"}, exitUnscheduled},
		"claims.txt":       {"a claim that somebody wrote is decided about; one that no instance can be launched for says why", []string{"-f", "testdata/claims.yaml", "--catalog", "testdata/consolidate-catalog.json"}, exitUnscheduled},
		"consolidate.txt":  {"which nodes go and what for, and why each other stays", consolidate, exitOK},
		"consolidate.json": {"the same for scripts", append(slices.Clone(consolidate), "-o", "json"), exitOK},
		"postponed.txt":    {"pods that need nodes come first, and the output says so; empty nodes go all the same", append(slices.Clone(consolidate), "-f", "testdata/pending.yaml"), exitOK},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := command(t, append(append([]string{"simulate"}, tc.args...), at...)...)
			if code != tc.code {
				t.Errorf("%s: exit %d, want %d\n%s", tc.reason, code, tc.code, stderr)
			}
			golden(t, name, mask(stdout))
		})
	}
}

// TestFields fixes the names of the JSON's fields, which scripts rely on, but not the
// solver's results.
func TestFields(t *testing.T) {
	_, stdout, _ := command(t, "simulate", "-f", "../../examples/quickstart", "-f", "testdata/unscheduled.yaml", "-o", "json")
	var report any
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	fields(report, "", paths)
	golden(t, "fields.txt", strings.Join(slices.Sorted(maps.Keys(paths)), "\n")+"\n")
}

func fields(v any, path string, out map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			fields(value, path+"."+key, out)
		}
	case []any:
		for _, value := range v {
			fields(value, path+"[]", out)
		}
		if len(v) == 0 {
			out[path+"[]"] = true
		}
	default:
		out[fmt.Sprintf("%s %T", path, v)] = true
	}
}

// TestCostOfWidth: simulate shows by node and in sum what EC2 may charge when it launches the
// dearest option: on spot up to twice the cheapest, on demand 15 % more. The table says so, too.
func TestCostOfWidth(t *testing.T) {
	_, stdout, _ := command(t, "simulate", "-f", "../../examples/quickstart", "-o", "json")
	var got struct {
		Nodes []struct {
			Name, CapacityType  string
			Price, HighestPrice float64
			Options             int
		}
		HourlyCost, HighestHourlyCost float64
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	_, table, _ := command(t, "simulate", "-f", "../../examples/quickstart")
	sum, wide := 0.0, 0
	for _, n := range got.Nodes {
		sum += n.HighestPrice
		most := 1.15
		if n.CapacityType == "spot" {
			most = 2
		}
		if n.HighestPrice < n.Price || n.HighestPrice > n.Price*most+1e-6 || n.Options > 60 {
			t.Errorf("%s on %s costs %v, as the dearest of %d options %v", n.Name, n.CapacityType, n.Price, n.Options, n.HighestPrice)
		}
		if n.CapacityType == "spot" && n.HighestPrice > n.Price*1.15 {
			wide++
		}
		row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(n.Name) + ` .*$`).FindString(table)
		if want := fmt.Sprintf("%.4f  %.4f", n.Price, n.HighestPrice); !strings.Contains(row, want) {
			t.Errorf("the table has %q, want %s in it", row, want)
		}
	}
	if wide == 0 {
		t.Error("no spot node has options beyond 15 %: nothing shows what width costs")
	}
	if math.Abs(sum-got.HighestHourlyCost) > 1e-9 || got.HighestHourlyCost <= got.HourlyCost {
		t.Errorf("%v to %v $/hour in sum, the nodes cost at most %v", got.HourlyCost, got.HighestHourlyCost, sum)
	}
	if want := fmt.Sprintf("%.4f $/hour for instances", got.HourlyCost); !strings.Contains(table, want) || !strings.Contains(table, fmt.Sprintf("%.4f", got.HighestHourlyCost)) {
		t.Errorf("the table does not say %s, and up to %.4f:\n%s", want, got.HighestHourlyCost, table)
	}
}

// TestQuickstart checks properties that every correct result of the solver has.
func TestQuickstart(t *testing.T) {
	code, stdout, stderr := command(t, "simulate", "-f", "../../examples/quickstart", "-o", "json")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var got struct {
		Decision string
		Pods     int
		Nodes    []struct {
			InstanceType, Zone, CapacityType string
			Price                            float64
			Pods                             []string
		}
		Unscheduled []any
		HourlyCost  float64
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	seen, sum := map[string]bool{}, 0.0
	for _, n := range got.Nodes {
		sum += n.Price
		for _, p := range n.Pods {
			if seen[p] {
				t.Errorf("%s is placed twice", p)
			}
			seen[p] = true
			if strings.HasPrefix(p, "default/db-") && n.CapacityType != "on-demand" {
				t.Errorf("%s on %s", p, n.CapacityType)
			}
		}
	}
	if got.HourlyCost > 0.5 {
		t.Errorf("%v $/hour: there are plans for 0.4713", got.HourlyCost)
	}
	if got.Pods != 50 || len(seen) != 50 || len(got.Unscheduled) != 0 || got.Decision == "" {
		t.Errorf("%d pods, %d placed, %d not", got.Pods, len(seen), len(got.Unscheduled))
	}
	if diff := got.HourlyCost - sum; diff > 1e-9 || diff < -1e-9 {
		t.Errorf("hourlyCost %v, the nodes' prices sum to %v", got.HourlyCost, sum)
	}
}

// TestDeterminism: the same input gives the same bytes, and the order of files
// does not matter.
func TestDeterminism(t *testing.T) {
	files, err := filepath.Glob("../../examples/quickstart/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	var forward, backward []string
	for i := range files {
		forward = append(forward, "-f", files[i])
		backward = append(backward, "-f", files[len(files)-1-i])
	}
	common := []string{"simulate", "-o", "json", "--seed", "7", "--time", "2026-01-01T00:00:00Z"}
	_, a, _ := command(t, slices.Concat(common, forward)...)
	_, b, _ := command(t, slices.Concat(common, backward)...)
	if diff := cmp.Diff(mask(a), mask(b)); diff != "" {
		t.Error(diff)
	}
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	unknown := write("unknown.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  contaners: []\n")
	catalog := write("catalog.json", "[\n{\"name\": \"a\"}]")
	cases := map[string]struct {
		args []string
		want string
	}{
		"no manifests":     {[]string{"simulate"}, "no manifests: name a file or folder with -f"},
		"missing file":     {[]string{"simulate", "-f", dir + "/none.yaml"}, "none.yaml: no such file"},
		"unknown field":    {[]string{"simulate", "-f", unknown}, `unknown.yaml:5: unknown field "spec.contaners"`},
		"catalog":          {[]string{"simulate", "-f", "../../examples/quickstart", "--catalog", catalog}, `catalog.json:2: read catalog: instance type 0 ("a"): name and arch must be set`},
		"region":           {[]string{"simulate", "-f", "../../examples/quickstart", "--region", "mars-1"}, `region "mars-1": not in the embedded catalogue (have af-south-1`},
		"both":             {[]string{"simulate", "-f", unknown, "--region", "a", "--catalog", "b"}, "exclude each other"},
		"output":           {[]string{"simulate", "-f", unknown, "-o", "xml"}, "-o xml: want table or json"},
		"time":             {[]string{"simulate", "-f", unknown, "--time", "noon"}, "--time noon: want RFC 3339"},
		"flag":             {[]string{"simulate", "--fiel", "x"}, "unknown flag: --fiel"},
		"command":          {[]string{"similate"}, `unknown command "similate"`},
		"export region":    {[]string{"catalog", "export"}, "--region must be set, to one of af-south-1"},
		"export format":    {[]string{"catalog", "export", "--region", "us-east-1", "-o", "table"}, "want json"},
		"no policy inside": {[]string{"simulate", "-f", "../../examples/quickstart", "--policies", "../../examples/quickstart"}, "holds no policy: want a folder with policy.yaml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := command(t, tc.args...)
			if code != exitBadInput || stdout != "" || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit %d, stdout %q, stderr %q, want exit 2 and %q", code, stdout, stderr, tc.want)
			}
		})
	}
}

func TestExport(t *testing.T) {
	code, stdout, stderr := command(t, "catalog", "export", "--region", "us-west-2")
	if code != exitOK {
		t.Fatal(stderr)
	}
	var all []struct {
		Name                  string
		Capacity, Allocatable map[string]string
		Offerings             []struct {
			Zone, CapacityType string
			Price              float64
			Available          bool
		}
	}
	if err := json.Unmarshal([]byte(stdout), &all); err != nil {
		t.Fatal(err)
	}
	for _, it := range all {
		if it.Name == "m5.large" && it.Capacity["cpu"] == "2" && it.Allocatable["cpu"] == "1930m" && it.Capacity["pods"] == "29" && len(it.Offerings) > 3 {
			return
		}
	}
	t.Errorf("m5.large is not among the %d types, or not as it should be", len(all))
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"simulate", "--help"}, {"catalog", "export", "--help"}, {"version"}} {
		if code, stdout, _ := command(t, args...); code != exitOK || len(stdout) < 10 {
			t.Errorf("%v: exit %d: %q", args, code, stdout)
		}
	}
}
