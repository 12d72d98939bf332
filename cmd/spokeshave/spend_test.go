package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/record/focus"
	"spokeshave.dev/controller/rehearse/spending"
)

// november is the month that the examples of the help ask for.
var november = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// novemberLedger is a ledger after two days of November, and what it has charged until
// then: a node of 1 $/h, of which shop requests a half.
func novemberLedger() spend.Ledger {
	s := &model.Snapshot{
		Time:  november,
		Pools: []model.Pool{{Name: "general", Labels: map[string]string{"team": "web"}}},
		Nodes: []model.Node{{
			Name: "a", Claim: "a", Pool: 0, InstanceType: "m5.large", CapacityType: model.OnDemand, Price: 1_000_000, LaunchedAt: november,
			Allocatable: model.Resources{model.CPU: 4_000},
		}},
		Specs: []model.PodSpec{{Requests: model.Resources{model.CPU: 2_000}}},
		Pods:  []model.Pod{{Namespace: "shop", Name: "web-1", Workload: "Deployment/web"}},
	}
	l := spend.New(s)
	s.Time = november.Add(50 * time.Hour)
	return l.Advance(s)
}

// recordOf returns a ConfigMap of the controller as JSON.
func recordOf(t *testing.T, name, key string, text []byte) string {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: "spokeshave", Name: name},
		BinaryData: map[string][]byte{key: packed.Bytes()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// spendObjects returns the ledger and the history of a cluster by path: two days of
// November, and the present month.
func spendObjects(t *testing.T) map[string]string {
	t.Helper()
	const path = "/api/v1/namespaces/spokeshave/configmaps/"
	months, old := map[string]spend.History{}, novemberLedger()
	for _, p := range old.Days.Periods() {
		h, ok := months[spend.HistoryName(p.From)]
		if !ok {
			h = spend.NewHistory(p.From)
		}
		months[spend.HistoryName(p.From)] = h.With(&p)
	}
	at := now().UTC()
	l := spend.New(&model.Snapshot{
		Time: at, Pools: []model.Pool{{Name: "general"}},
		Nodes: []model.Node{{Name: "b", Claim: "b", Pool: 0, InstanceType: "c6g.large", CapacityType: model.Spot, Price: 500_000, LaunchedAt: at.Add(-time.Hour)}},
	})
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{path + spend.LedgerName: recordOf(t, spend.LedgerName, spend.LedgerKey, text)}
	for month := range 12 {
		first := november.AddDate(0, month-10, 0)
		h, ok := months[spend.HistoryName(first)]
		if !ok {
			h = spend.NewHistory(first)
		}
		if text, err = h.Encode(); err != nil {
			t.Fatal(err)
		}
		out[path+spend.HistoryName(first)] = recordOf(t, spend.HistoryName(first), spend.HistoryKey, text)
	}
	return out
}

// novemberFile writes the ConfigMap of the ledger after two days of November.
func novemberFile(t *testing.T) string {
	t.Helper()
	l := novemberLedger()
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spend.json")
	if err := os.WriteFile(path, []byte(recordOf(t, spend.LedgerName, spend.LedgerKey, text)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSpend(t *testing.T) {
	file := novemberFile(t)
	in := []string{"spend", "-f", file, "--from", "2026-11-01", "--to", "2026-12-01"}
	code, stdout, stderr := command(t, in...)
	if want := "      $      %  namespace\n  25.00   50.0  (idle)\n  25.00   50.0  shop\n  50.00  100.0  total\n"; code != exitOK || stdout != want || stderr != "" {
		t.Errorf("exit %d:\n%s\nwant\n%s%s", code, stdout, want, stderr)
	}
	for by, want := range map[string][]spending.Sum{
		"workload": {{Name: "(idle)", Micro: 25_000_000, USD: 25}, {Name: "shop/Deployment/web", Micro: 25_000_000, USD: 25}},
		"nodepool": {{Name: "general", Micro: 50_000_000, USD: 50}},
		"family":   {{Name: "m5", Micro: 50_000_000, USD: 50}},
		"capacity": {{Name: "on-demand", Micro: 50_000_000, USD: 50}},
		"day":      {{Name: "2026-11-01", Micro: 24_000_000, USD: 24}, {Name: "2026-11-02", Micro: 24_000_000, USD: 24}, {Name: "2026-11-03", Micro: 2_000_000, USD: 2}},
	} {
		code, stdout, stderr := command(t, append(in, "--by", by, "-o", "json")...)
		var got spending.Report
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitOK {
			t.Fatalf("by %s: exit %d, %v: %s", by, code, err, stderr)
		}
		if diff := cmp.Diff(want, got.Sums); diff != "" {
			t.Errorf("by %s: -want +got\n%s", by, diff)
		}
	}
}

// TestSpendGaps: a ledger that has counted more than its days says so.
func TestSpendGaps(t *testing.T) {
	l := novemberLedger()
	l.Days = l.Days.Recorded(func(*spend.Period) bool { return true })
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spend.json")
	if err := os.WriteFile(path, []byte(recordOf(t, spend.LedgerName, spend.LedgerKey, text)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := command(t, "spend", "-f", path, "--from", "2026-11-01", "--to", "2026-12-01")
	if code != exitOK || !strings.Contains(stdout, " 2.00  100.0  total") || !strings.Contains(stderr, "the days of 2026-11 add up to 2.00 $, the ledger of the month to 50.00 $; its history begins 2026-11-03T00:00:00Z") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

func TestSpendRefuses(t *testing.T) {
	file := novemberFile(t)
	spoilt := filepath.Join(t.TempDir(), "spoilt.json")
	if err := os.WriteFile(spoilt, []byte(recordOf(t, spend.LedgerName, spend.LedgerKey, []byte("{"))), 0o600); err != nil {
		t.Fatal(err)
	}
	nothing := kubeconfigOf(t, emptyCluster(t))
	for name, tc := range map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"way":      {"an unknown division is a slip", []string{"spend", "-f", file, "--by", "team"}, exitBadInput, "--by team: want one of namespace,"},
		"day":      {"a day has a form", []string{"spend", "-f", file, "--from", "1.11."}, exitBadInput, "--from 1.11.: want a day such as 2026-11-01"},
		"order":    {"a time ends after it begins", []string{"spend", "-f", file, "--from", "2026-12-01", "--to", "2026-11-01"}, exitBadInput, "from 2026-12-01 to 2026-11-01"},
		"file":     {"a file that is not there is named", []string{"spend", "-f", "none.yaml"}, exitBadInput, "none.yaml"},
		"spoilt":   {"a record that cannot be read is named", []string{"spend", "-f", spoilt}, exitBadInput, "ConfigMap spokeshave/spokeshave-ledger: read ledger"},
		"empty":    {"a time without spend is an answer", []string{"spend", "-f", file, "--from", "2020-01-01", "--to", "2020-02-01"}, exitUnscheduled, "nothing is known of that time"},
		"cluster":  {"a cluster that does not answer is named", []string{"spend", "--kubeconfig", kubeconfigOf(t, "http://127.0.0.1:1")}, exitBadInput, "127.0.0.1:1"},
		"no such":  {"another namespace is a slip", []string{"spend", "--kubeconfig", nothing, "-n", "other"}, exitUnscheduled, "in namespace other: is that the controller's"},
		"command":  {"a misspelt subcommand does not show the table", []string{"spend", "exprot"}, exitBadInput, `unknown command "exprot"`},
		"format":   {"there is one format", []string{"spend", "export", "-f", file, "--format", "cur"}, exitBadInput, "--format cur: want focus"},
		"account":  {"FOCUS wants an account", []string{"spend", "export", "-f", file, "--billing-account", ""}, exitBadInput, "--billing-account"},
		"no place": {"a file that cannot be written is named", []string{"spend", "export", "-f", file, "--from", "2026-11-01", "--to", "2026-12-01", "--out", "no/such/folder"}, exitBadInput, "--out: open no/such/folder"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, stdout, stderr := command(t, tc.args...); code != tc.code || stdout != "" || !strings.Contains(stderr, tc.want) {
				t.Errorf("%s: exit %d: %s%s", tc.reason, code, stdout, stderr)
			}
		})
	}
}

// TestSpendExport: the forms have the same rows, and the sum of the ledger.
func TestSpendExport(t *testing.T) {
	in := []string{"spend", "export", "-f", novemberFile(t), "--from", "2026-11-01", "--to", "2026-12-01", "--billing-account", "111122223333", "--region", "eu-west-1", "--cluster", "shop"}
	code, stdout, stderr := command(t, in...)
	records, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if code != exitOK || stderr != "" || err != nil || len(records) != 7 {
		t.Fatalf("exit %d, %d records, %v: %s", code, len(records), err, stderr)
	}
	out := filepath.Join(t.TempDir(), "november.parquet")
	code, stdout, stderr = command(t, append(in, "-o", "parquet", "--out", out)...)
	if code != exitOK || stdout != fmt.Sprintf("%s: 6 rows\n", out) {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	rows, err := parquet.ReadFile[focus.Row](out)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for i := range rows {
		sum += rows[i].EffectiveCost
	}
	l := novemberLedger()
	if total := l.Total(); len(rows) != 6 || sum != total.Micro {
		t.Errorf("%d rows add up to %d, want 6 and %d", len(rows), sum, total.Micro)
	}
	code, stdout, _ = command(t, append(in, "-o", "json")...)
	var objects []map[string]any
	if err := json.Unmarshal([]byte(stdout), &objects); err != nil || code != exitOK || len(objects) != 6 || objects[0]["BilledCost"] != 12.0 || objects[0]["RegionId"] != "eu-west-1" {
		t.Errorf("exit %d, %v: %v", code, err, objects)
	}
}

// emptyCluster serves no object.
func emptyCluster(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"no such ConfigMap"}`))
	}))
	t.Cleanup(server.Close)
	return server.URL
}
