// Package failclosed tests the table in docs/security.md that says what follows when a
// part fails: every cell is a case.
package failclosed

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/test/kit/instancetype"
)

const (
	page    = "../../../docs/security.md"
	heading = "## When something fails"
	own     = "spokeshave"
)

// The words of the table's cells.
const (
	ignored = "ignored"        // as without the policy
	launch  = "stops launches" // nothing is launched
	keep    = "keeps nodes"    // no node is removed
	both    = "stops both"     // nothing is launched and no node is removed
	last    = "last version"   // the last good version holds
	caps    = "last caps"      // the caps of the decision before hold
)

// kind is a column of the table: a hook and a failure policy.
type kind struct {
	hook    policy.Hook
	failure policy.FailurePolicy
}

func columns() map[string]kind {
	return map[string]kind{
		"rank": {policy.HookRank, ""}, "rank, `Fail`": {policy.HookRank, policy.Fail},
		"consolidate": {policy.HookConsolidate, ""}, "consolidate, `Ignore`": {policy.HookConsolidate, policy.Ignore},
		"ceiling": {policy.HookCeiling, ""}, "ceiling, `Ignore`": {policy.HookCeiling, policy.Ignore},
	}
}

// scripted is a compiled policy that refuses everything that it is asked about, or
// faults.
type scripted struct {
	info  policy.Info
	fault error
}

func (s *scripted) Info() policy.Info         { return s.info }
func (*scripted) Stats() policy.Stats         { return policy.Stats{} }
func (*scripted) Close(context.Context) error { return nil }

func (s *scripted) Rank(_ context.Context, in *policy.RankInput) ([]policy.RankAnswer, error) {
	out := make([]policy.RankAnswer, len(in.Rows))
	for i := range out {
		out[i] = policy.RankAnswer{Exclude: true, Reason: "refused"}
	}
	return out, s.fault
}

func (s *scripted) Consolidate(_ context.Context, in *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	out := make([]policy.ConsolidateAnswer, len(in.Candidates))
	for i := range out {
		out[i] = policy.ConsolidateAnswer{Verdict: policy.Deny, Reason: "refused"}
	}
	return out, s.fault
}

func (s *scripted) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	if s.fault != nil {
		return policy.CeilingAnswer{}, s.fault
	}
	return policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {HourlyUSD: new(0.0)}}}, nil
}

// engine compiles policies that fault, and refuses code that says so.
type engine struct{ fault error }

func (e engine) Compile(_ context.Context, src *policy.Source) (policy.Compiled, error) {
	if strings.Contains(src.Files["p.rego"], "broken") {
		return nil, os.ErrInvalid
	}
	return &scripted{info: src.Info, fault: e.fault}, nil
}

// manifest returns a policy.yaml for the column, with more lines.
func (k kind) manifest(hooks string, more ...string) string {
	lines := append([]string{"apiVersion: " + load.APIVersion, "hooks: " + hooks}, more...)
	if k.failure != "" {
		lines = append(lines, "failurePolicy: "+string(k.failure))
	}
	return strings.Join(lines, "\n")
}

// setting is what a row does to a policy of a column.
type setting struct {
	namespace string
	revisions []map[string]string // contents of the ConfigMap, in order
	fault     error
	required  bool
	options   decide.Options
	doubt     string
}

// settings has by row of the table what fails. A row that is not here names the test
// that proves it.
func settings() map[string]func(kind) setting {
	files := func(manifest, code string) []map[string]string {
		return []map[string]string{{"policy.yaml": manifest, "p.rego": code}}
	}
	faulty := func(f policy.FaultKind) func(kind) setting {
		return func(k kind) setting {
			return setting{revisions: files(k.manifest("["+string(k.hook)+"]"), "good"), fault: &policy.Fault{Kind: f, Message: "it fails"}}
		}
	}
	return map[string]func(kind) setting{
		"`policy.yaml` is missing": func(kind) setting {
			return setting{revisions: []map[string]string{{"p.rego": "good"}}}
		},
		"`policy.yaml` is no YAML": func(kind) setting { return setting{revisions: files("hooks: {", "good")} },
		"a hook is unknown": func(k kind) setting {
			return setting{revisions: files(k.manifest("["+string(k.hook)+", dance]"), "good")}
		},
		"`hooks` is a word in place of a list": func(k kind) setting { return setting{revisions: files(k.manifest(string(k.hook)), "good")} },
		"another field is wrong": func(k kind) setting {
			return setting{revisions: files(k.manifest("["+string(k.hook)+"]", "priority: high"), "good")}
		},
		"the code does not compile": func(k kind) setting { return setting{revisions: files(k.manifest("["+string(k.hook)+"]"), "broken")} },
		"the code is missing": func(k kind) setting {
			return setting{revisions: []map[string]string{{"policy.yaml": k.manifest("[" + string(k.hook) + "]")}}}
		},
		"any of these, after a good version": func(k kind) setting {
			good := files(k.manifest("["+string(k.hook)+"]"), "good")
			return setting{revisions: slices.Concat(good, files("hooks: {", "good"))}
		},
		"no YAML, in a plugin namespace": func(kind) setting {
			return setting{namespace: "team", revisions: files("hooks: {", "good")}
		},
		"it is required, and missing": func(kind) setting { return setting{required: true} },
		"it traps":                    faulty(policy.FaultTrap),
		"its deadline passes":         faulty(policy.FaultDeadline),
		"its answer cannot be used":   faulty(policy.FaultBadReply),
		"its breaker is open":         faulty(policy.FaultTripped),
		"it traps, and its caps are known": func(k kind) setting {
			out := faulty(policy.FaultTrap)(k)
			out.options.LastCaps = map[string]map[string]policy.Cap{own + "/p": {"cluster": {HourlyUSD: new(0.0)}}}
			return out
		},
		"the ledger is lost, or the clock wrong": func(k kind) setting {
			return setting{doubt: "in doubt", revisions: files(k.manifest("["+string(k.hook)+"]"), "monthly")}
		},
	}
}

// outcome makes a decision with pods that wait and one with an empty node, and returns
// whether nodes were launched and the empty node removed.
func outcome(t *testing.T, in *setting) (launched, removed bool, reasons []string) {
	t.Helper()
	cfg := load.Config{Namespace: own, Engines: map[string]policy.Engine{"rego": engine{in.fault}}, Now: time.Now}
	if in.required {
		cfg.Required = []string{"p"}
	}
	l := load.New(cfg)
	namespace := in.namespace
	if namespace == "" {
		namespace = own
	}
	for _, data := range in.revisions {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p"}, Data: data}
		_, _ = l.Apply(t.Context(), cm) // rejected, in most rows
	}
	policies, options := l.Policies(), in.options
	if in.doubt != "" {
		policies = []policy.Policy{&monthly{scripted{info: policies[0].Info()}}}
	}
	options.Missing, options.Disrupt = l.Missing(), true
	for _, s := range []*model.Snapshot{waiting(), empty()} {
		s.SpentDoubt = in.doubt
		d, err := decide.Decide(t.Context(), s, policies, options)
		if err != nil {
			t.Fatal(err)
		}
		launched = launched || len(d.Plan.Nodes) > 0
		removed = removed || slices.ContainsFunc(d.Disruptions, func(x decide.Disruption) bool { return x.Go })
		for i := range d.Plan.Unplaced {
			for _, r := range d.Plan.Unplaced[i].Reasons {
				reasons = append(reasons, r.Message)
			}
		}
	}
	return launched, removed, reasons
}

// monthly is a policy with a monthly cap that is not reached, and no other opinion.
type monthly struct{ scripted }

func (*monthly) Rank(context.Context, *policy.RankInput) ([]policy.RankAnswer, error) {
	return nil, policy.ErrNoOpinion
}

func (*monthly) Consolidate(context.Context, *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	return nil, policy.ErrNoOpinion
}

func (*monthly) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	return policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {MonthlyUSD: new(1e6)}}}, nil
}

// cluster has a NodePool and nothing else.
func cluster() *model.Snapshot {
	return &model.Snapshot{
		Time: time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC), Seed: 7, Spent: []model.Spent{},
		Catalogs: []model.Catalog{instancetype.Catalog(instancetype.New("m.large", 4000, 16, 50, instancetype.OnDemand("a", 200_000)))},
		Pools:    []model.Pool{{Name: "general", NodeClass: "default", Disruption: model.Disruption{AllowedEmpty: 10}}},
		Specs:    []model.PodSpec{{Namespace: "shop", Requests: model.Resources{model.CPU: 1000, model.Memory: 1 << 30, model.PodSlots: 1}}},
	}
}

// empty is a cluster with a node that nobody uses.
func empty() *model.Snapshot {
	s := cluster()
	s.Nodes = []model.Node{{Name: "n", Claim: "n", State: model.Initialized, Price: 200_000, LaunchedAt: s.Time.Add(-time.Hour)}}
	return s
}

// waiting is a cluster with two pods that wait.
func waiting() *model.Snapshot {
	s := cluster()
	s.Pods = []model.Pod{{UID: "a", Namespace: "shop", Name: "a", Node: -1}, {UID: "b", Namespace: "shop", Name: "b", Node: -1}}
	return s
}

// expected returns whether launches and removals go on, by the word of a cell.
func expected(t *testing.T, word string, k kind) (launched, removed bool) {
	t.Helper()
	switch word {
	case ignored:
		return true, true
	case launch, caps:
		return false, true
	case keep:
		return true, false
	case both:
		return false, false
	case last: // the good version refuses what it is asked about
		return k.hook == policy.HookConsolidate, k.hook != policy.HookConsolidate
	}
	t.Fatalf("%q is no word of the table", word)
	return false, false
}

// TestMatrix: every cell of the table holds.
func TestMatrix(t *testing.T) {
	left := settings()
	for row, cells := range table(t) {
		setup, here := left[row]
		delete(left, row)
		if !here {
			elsewhere(t, row, cells["test"])
			continue
		}
		if cells["test"] != "`TestMatrix`" {
			t.Errorf("%s: its test is TestMatrix, not %s", row, cells["test"])
		}
		for column, k := range columns() {
			t.Run(row+"/"+column, func(t *testing.T) {
				in := setup(k)
				launched, removed, reasons := outcome(t, &in)
				wantLaunched, wantRemoved := expected(t, cells[column], k)
				if launched != wantLaunched || removed != wantRemoved {
					t.Errorf("launched %v, removed %v; the table says %q, which is %v and %v; reasons %q",
						launched, removed, cells[column], wantLaunched, wantRemoved, reasons)
				}
			})
		}
	}
	for row := range left {
		t.Errorf("the table lacks the row %q", row)
	}
}

// elsewhere checks that the test that proves a row exists.
func elsewhere(t *testing.T, row, cell string) {
	t.Helper()
	m := regexp.MustCompile("^`(test/suite/[a-z]+) (Test[A-Za-z]+)`$").FindStringSubmatch(cell)
	if m == nil {
		t.Errorf("%s: %q names no test", row, cell)
		return
	}
	files, err := os.ReadDir("../../../" + m[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile("../../../" + m[1] + "/" + f.Name())
		if err == nil && strings.Contains(string(text), "func "+m[2]+"(t *testing.T)") {
			return
		}
	}
	t.Errorf("%s: there is no test %s in %s", row, m[2], m[1])
}

// table returns the cells of the page's table by row and column.
func table(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", page, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var names []string
	out := map[string]map[string]string{}
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if names == nil {
			names = cells
			continue
		}
		row := map[string]string{}
		for i, name := range names[1:] {
			row[name] = cells[i+1]
		}
		out[cells[0]] = row
	}
	for _, column := range slices.Sorted(maps.Keys(columns())) {
		if !slices.Contains(names, column) {
			t.Errorf("the table lacks the column %q", column)
		}
	}
	return out
}
