// Package dashboards holds what the chart shows against what the controller
// measures: every metric and label that a dashboard or rule asks for must exist.
package dashboards

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/cloud/aws/market"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/cloud/aws/refresh"
	"spokeshave.dev/controller/kube/admission"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/reconcile/configmap"
	"spokeshave.dev/controller/kube/reconcile/interruption"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/kube/reconcile/repair"
	"spokeshave.dev/controller/policy/load"
)

const chart = "../../../charts/spokeshave/files/"

// names registers collectors and remembers what they describe.
type names map[string][]string // labels by metric

var (
	described = regexp.MustCompile(`fqName: "([^"]+)".*constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)
	constant  = regexp.MustCompile(`([a-z_]+)="`)
)

func (n names) Register(c prometheus.Collector) error {
	all := make(chan *prometheus.Desc)
	go func() {
		c.Describe(all)
		close(all)
	}()
	for d := range all {
		if m := described.FindStringSubmatch(d.String()); m != nil {
			n[m[1]] = strings.Split(m[3], ",")
			for _, c := range constant.FindAllStringSubmatch(m[2], -1) {
				n[m[1]] = append(n[m[1]], c[1])
			}
			kinds[m[1]] = kindOf(c)
		}
	}
	return nil
}

// kinds are the types of the metrics that were registered, where the collector
// tells.
var kinds = map[string]string{}

func kindOf(c prometheus.Collector) string {
	switch c.(type) {
	case prometheus.Summary: // whose methods a histogram has, too
		if strings.Contains(fmt.Sprintf("%T", c), "histogram") {
			return "histogram"
		}
		return "summary"
	case *prometheus.SummaryVec:
		return "summary"
	case *prometheus.HistogramVec:
		return "histogram"
	case *prometheus.CounterVec:
		return "counter"
	case *prometheus.GaugeVec:
		return "gauge"
	case prometheus.Gauge: // before Counter, whose methods a gauge has, too
		return "gauge"
	case prometheus.Counter:
		return "counter"
	}
	return ""
}

func (n names) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		_ = n.Register(c) // it never refuses
	}
}

func (n names) Unregister(prometheus.Collector) bool { return false }

// elsewhere are metrics that packages register which cannot be made here.
var elsewhere = map[string][]string{
	"karpenter_interruption_received_messages_total": {"message_type"},
}

func registered(t *testing.T) names {
	t.Helper()
	n := names{}
	maps.Copy(n, elsewhere)
	shared, err := metric.NewReconcilers(n)
	if err != nil {
		t.Fatal(err)
	}
	metric.NewDecisions(n, shared)
	n.MustRegister(&metric.PodCounts{})
	metric.NewConditions(n, shared, nil, time.Now, func() bool { return true })
	if err := metric.Build(n, "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := policies.NewRevisions(n); err != nil {
		t.Fatal(err)
	}
	interruption.NewMetrics(n)
	repair.NewMetrics(n, shared)
	breaker.NewMetrics(n)
	configmap.NewMetrics(n)
	admission.NewMetrics(n)
	n.MustRegister(market.NewEstimated())
	n.MustRegister(refresh.NewMetrics().Collectors()...)
	n.MustRegister(nodeclass.NewAges(time.Now, time.Minute))
	n.MustRegister(ledger.NewCollector(&ledger.Tracker{}), policies.NewCollector(load.New(load.Config{})))
	return n
}

// query is an expression and where it stands.
type query struct{ where, expr string }

func queries(t *testing.T) []query {
	t.Helper()
	files, err := filepath.Glob(chart + "dashboards/*.json")
	if err != nil || len(files) < 6 {
		t.Fatalf("found dashboards %v: %v", files, err)
	}
	var out []query
	for _, file := range files {
		var board struct {
			Title, UID string
			Panels     []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		read(t, file, &board)
		if board.Title == "" || board.UID == "" || len(board.Panels) < 4 {
			t.Errorf("%s: title %q, uid %q, %d panels", file, board.Title, board.UID, len(board.Panels))
		}
		for _, p := range board.Panels {
			if len(p.Targets) == 0 {
				t.Errorf("%s: panel %q asks for nothing", file, p.Title)
			}
			for _, target := range p.Targets {
				out = append(out, query{board.Title + ": " + p.Title, target.Expr})
			}
		}
	}
	return out
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(file) == ".yaml" {
		err = yaml.UnmarshalStrict(text, into)
	} else {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

var (
	ours    = regexp.MustCompile(`\b(?:spokeshave|karpenter)[_:][a-z0-9_:]+`)
	matched = regexp.MustCompile(`((?:spokeshave|karpenter)[_:][a-z0-9_:]+)\{([^}]*)\}`)
	label   = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)`)
	grouped = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
)

func base(name string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if cut, ok := strings.CutSuffix(name, suffix); ok && !strings.HasSuffix(cut, "pods") || ok && strings.Contains(name, "evicted_pods_") {
			return cut
		}
	}
	return name
}

func check(t *testing.T, known names, q query) {
	t.Helper()
	every := map[string]bool{"le": true}
	found := ours.FindAllString(q.expr, -1)
	if len(found) == 0 {
		t.Errorf("%s: %q asks for none of our metrics", q.where, q.expr)
	}
	for _, name := range found {
		labels, ok := known[name]
		if !ok {
			labels, ok = known[base(name)]
		}
		if !ok {
			t.Errorf("%s: nothing measures %s", q.where, name)
		}
		for _, l := range labels {
			every[l] = true
		}
	}
	for _, m := range matched.FindAllStringSubmatch(q.expr, -1) {
		labels := slices.Concat(known[m[1]], known[base(m[1])])
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(labels, l[1]) {
				t.Errorf("%s: %s has no label %s", q.where, m[1], l[1])
			}
		}
	}
	for _, m := range grouped.FindAllStringSubmatch(q.expr, -1) {
		for l := range strings.SplitSeq(m[1], ",") {
			if l = strings.TrimSpace(l); !every[l] {
				t.Errorf("%s: groups by %s, which none of its metrics has", q.where, l)
			}
		}
	}
	if strings.Count(q.expr, "(") != strings.Count(q.expr, ")") {
		t.Errorf("%s: parentheses of %q", q.where, q.expr)
	}
}

func TestDashboardsAskForWhatIsMeasured(t *testing.T) {
	known := registered(t)
	for _, q := range queries(t) {
		check(t, known, q)
	}
}

// rule is a rule of the chart.
type rule struct {
	Record, Alert, Expr, For string
	Labels, Annotations      map[string]string
}

// ruleFile is the chart's file of rules.
type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []rule
	}
}

// TestFaultsAreAlerted: there is an alert for each way in which the controller stops
// doing its work or does it on wrong grounds, and it asks for the series that tells.
func TestFaultsAreAlerted(t *testing.T) {
	var rules ruleFile
	read(t, chart+"rules.yaml", &rules)
	alerts := map[string]rule{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			alerts[r.Alert] = r
		}
	}
	for name, series := range map[string]string{
		"SpokeshaveDecisionsFail":          `spokeshave_decision_failures_total{kind=~"Panic|Unproven"}`,
		"SpokeshaveLoopStuck":              "karpenter_scheduler_unfinished_work_seconds",
		"SpokeshaveStateUnsynced":          "karpenter_cluster_state_unsynced_time_seconds",
		"SpokeshaveLedgerInDoubt":          "spokeshave_spend_in_doubt",
		"SpokeshaveLedgerLost":             "spokeshave_spend_ledger_lost_timestamp_seconds",
		"SpokeshaveAdmissionPolicyMissing": "spokeshave_admission_policy_missing",
		"SpokeshaveRecordRefused":          "spokeshave_record_refused",
		"SpokeshaveNodeMislabelled":        "spokeshave_nodes_mislabelled",
		"SpokeshavePriceUnknown":           "spokeshave_nodes_price_assumed",
		"SpokeshavePolicyFails":            "spokeshave_policy_faults_total",
		"SpokeshavePricesStale":            "spokeshave_aws_market_stale",
		"SpokeshaveClassStale":             "spokeshave_aws_class_stale",
		"SpokeshaveWritesRefused":          "spokeshave_writes_refused_total",
		"SpokeshavePodsHeldBack":           "spokeshave_pods_held_back",
		"SpokeshavePolicyRejected":         `spokeshave_policy_state{state="Rejected"}`,
	} {
		if r, ok := alerts[name]; !ok || !strings.Contains(r.Expr, series) {
			t.Errorf("alert %s: %q, want one that asks for %s", name, r.Expr, series)
		}
	}
}

// TestFailuresAreServedFromTheStart: increase() sees the first failure only if the series
// was there before it, with 0.
func TestFailuresAreServedFromTheStart(t *testing.T) {
	registry := prometheus.NewRegistry()
	shared, err := metric.NewReconcilers(registry)
	if err != nil {
		t.Fatal(err)
	}
	metric.NewDecisions(registry, shared)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := map[string]int{}
	for _, f := range families {
		series[f.GetName()] = len(f.GetMetric())
	}
	if series["spokeshave_decision_failures_total"] != 9 || series["spokeshave_writes_refused_total"] != 2 {
		t.Errorf("series of failures %d, of refusals %d", series["spokeshave_decision_failures_total"], series["spokeshave_writes_refused_total"])
	}
}

func TestRulesAskForWhatIsMeasured(t *testing.T) {
	var rules ruleFile
	read(t, chart+"rules.yaml", &rules)
	known := registered(t)
	records, alerts := 0, 0
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			check(t, known, query{g.Name + ": " + r.Record + r.Alert, r.Expr})
			if (r.Record == "") == (r.Alert == "") {
				t.Errorf("%s: rule %+v records and alerts, or neither", g.Name, r)
			}
			if r.Record != "" {
				records++
				continue
			}
			alerts++
			if r.Annotations["summary"] == "" || r.Labels["severity"] == "" {
				t.Errorf("%s: alert %s says neither what nor how bad", g.Name, r.Alert)
			}
		}
	}
	if records < 5 || alerts < 5 {
		t.Errorf("%d recording and %d alerting rules", records, alerts)
	}
}

// TestCheckFails: the checks above see what they look for.
func TestCheckFails(t *testing.T) {
	known := registered(t)
	for _, expr := range []string{
		"sum(spokeshave_nodez)", `spokeshave_nodes{pool="x"}`, "sum by (team) (spokeshave_nodes)", "up", "sum(spokeshave_nodes",
	} {
		sub := &testing.T{}
		check(sub, known, query{"test", expr})
		if !sub.Failed() {
			t.Errorf("%s passes", expr)
		}
	}
}
