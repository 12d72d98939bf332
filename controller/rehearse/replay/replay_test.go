package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/controller/rehearse/source"
)

func at() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func configMap(name string, hook, rego string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "spokeshave", Name: name},
		Data: map[string]string{
			"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [" + hook + "]\nengine: rego\n",
			"p.rego":      "package spokeshave." + hook + "\n\n" + rego,
		},
	}
}

func quickstart(t *testing.T) *model.Snapshot {
	t.Helper()
	o, err := scenario.Read("../../../examples/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.Snapshot(scenario.Options{Time: at(), Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	s.Spent = []model.Spent{} // a ledger that has just begun
	return &s
}

// slow is a policy whose second call fails, as if its deadline had passed.
type slow struct {
	policy.Policy

	calls int
}

func (s *slow) Ceiling(ctx context.Context, in *policy.CeilingInput) (policy.CeilingAnswer, error) {
	if s.calls++; s.calls == 2 {
		return policy.CeilingAnswer{}, &policy.Fault{Kind: policy.FaultDeadline, Message: "took more than 50ms"}
	}
	return s.Policy.Ceiling(ctx, in)
}

// decideAs makes a decision as the controller does and returns its record.
func decideAs(t *testing.T, s *model.Snapshot, wrap func(policy.Policy) policy.Policy, maps ...*corev1.ConfigMap) string {
	t.Helper()
	l := load.New(load.Config{Namespace: "spokeshave", Engines: engine.All(), Now: at})
	for _, cm := range maps {
		_, _ = l.Apply(t.Context(), cm) // broken ones are part of it
	}
	var policies []policy.Policy
	for _, p := range l.Policies() {
		policies = append(policies, wrap(p))
	}
	five := 5.0
	opts := decide.Options{
		Disrupt: true, Search: true, Explain: true,
		LastCaps: map[string]map[string]policy.Cap{"spokeshave/budget": {"cluster": {HourlyUSD: &five}}},
	}
	d, err := decide.Decide(t.Context(), s, policies, opts)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	log := journal.NewLog(&journal.Log{To: &out, Inputs: true, Namespace: "spokeshave"})
	log.Add(journal.Decided{Snapshot: s, Decision: &d, Options: opts, Policies: l.Contents()})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := log.Start(ctx); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "decisions.jsonl")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func as(p policy.Policy) policy.Policy { return p }

const twoDollars = `cap["cluster"] := {"hourly_usd": 2}`

// TestSameBytes: a recorded decision gives the same bytes again, from its file alone.
func TestSameBytes(t *testing.T) {
	budget := configMap("budget", "ceiling", twoDollars)
	for name, tc := range map[string]struct {
		reason string
		wrap   func(policy.Policy) policy.Policy
		maps   []*corev1.ConfigMap
		want   string
	}{
		"none":   {reason: "no policies", wrap: as},
		"budget": {reason: "a cap that leaves pods waiting", wrap: as, maps: []*corev1.ConfigMap{configMap("budget", "ceiling", `cap["cluster"] := {"hourly_usd": 0.2}`)}, want: "CeilingReached"},
		"broken": {reason: "a policy that never loaded refuses as it did", wrap: as, maps: []*corev1.ConfigMap{configMap("b", "ceiling", "cap[")}, want: "no version of the policy loads"},
		"struck": {reason: "a deadline that struck strikes again", wrap: func(p policy.Policy) policy.Policy { return &slow{Policy: p} }, maps: []*corev1.ConfigMap{budget}, want: "took more than 50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			records, err := Read(decideAs(t, quickstart(t), tc.wrap, tc.maps...))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(records[0].Decision), tc.want) {
				t.Fatalf("%s: the case does not show it: %s", tc.reason, records[0].Decision)
			}
			r, err := Again(t.Context(), &records[0])
			if err != nil || !r.Same {
				t.Errorf("%s: %v %+v", tc.reason, err, r)
			}
		})
	}
}

// TestDiffers: the differences of a decision that does not replay equally are
// described.
func TestDiffers(t *testing.T) {
	records, err := Read(decideAs(t, quickstart(t), as, configMap("budget", "ceiling", twoDollars)))
	if err != nil {
		t.Fatal(err)
	}
	r := &records[0]
	r.Inputs.Policies[0].Files["p.rego"] = []byte("package spokeshave.ceiling\n\ncap[\"cluster\"] := {\"hourly_usd\": 0.1}")
	got, err := Again(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(got.Differences, "\n")
	if got.Same || !strings.Contains(all, "plan.nodes: recorded ") || !strings.Contains(all, `policies[0].hash: recorded "`) {
		t.Errorf("differences: %s", all)
	}
	if len(got.Differences) > mostDifferences+1 {
		t.Errorf("%d differences are more than anybody reads", len(got.Differences))
	}
}

// TestWith: a replay with other policies gives another decision and its cost.
func TestWith(t *testing.T) {
	records, err := Read(decideAs(t, quickstart(t), as))
	if err != nil {
		t.Fatal(err)
	}
	onDemand := configMap("on-demand", "rank", `exclude contains "no spot" if input.offering.capacityType == "spot"`)
	c, err := With(t.Context(), &records[0], []source.Policy{{ConfigMap: onDemand, At: "here"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.HourlyDelta <= 0 || c.Recorded.ByCapacity["spot"] == 0 || c.Replayed.ByCapacity["spot"] != 0 || c.Replayed.Dropped["on-demand"] == 0 {
		t.Errorf("%+v", c)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"empty":   {"", "holds no record"},
		"other":   {`{"kind":"Pod"}`, "record 1: not a record"},
		"cut":     {`{"version":1,`, "record 1: unexpected EOF"},
		"version": {`{"version":2,"id":"a","decision":{}}`, "not a record of version 1"},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	var r journal.Record
	if err := json.Unmarshal([]byte(`{"version":1,"id":"a","decision":{}}`), &r); err != nil {
		t.Fatal(err)
	}
	if _, err := Again(t.Context(), &r); err == nil || !strings.Contains(err.Error(), "--decision-log-inputs") {
		t.Errorf("without inputs: %v", err)
	}
}
