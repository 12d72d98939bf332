package doctor

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/policy"
)

// sample is a report in which every part has something to say.
func sample(t *testing.T) *Report {
	t.Helper()
	c := read(t, class+nodePool("general", `requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand, spot]}]`, "")+
		nodePool("lost", `requirements: [{key: a, operator: In, values: [x]}, {key: a, operator: NotIn, values: [x]}]`, "")+
		machine("a", "general", at.Add(-2*time.Hour))+pod("web-1", "a", "1", at.Add(-2*time.Hour), time.Time{})+
		karpenter("karpenter/controller:1.13.0", `, env: [{name: CLUSTER_NAME, value: prod}, {name: FEATURE_GATES, value: "NodeRepair=true"}, {name: KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]`)+spokeshave(1, "--mode=Observe"))
	c.Source = "<cluster>"
	held("s-1", "k-1")(c)
	c.Policies = []policy.Status{{Namespace: "spokeshave", Name: "budget", State: policy.StateRejected, Reason: "<no> hook"}}
	a := &Account{Partition: "aws", Region: "us-west-2", Account: "123456789012", Cluster: "prod"}
	r := Examine(&Input{
		Time: at, Cluster: c, Karpenter: FindKarpenter(c.Deployments), Spokeshave: FindSpokeshave(c.Deployments), Money: count(t, c, 3*time.Hour, 0),
		Settings:    []Setting{{Source: "flag", Name: "cpu-requests", Value: "1", Message: "it follows from nothing"}},
		Permissions: Lacking(a, []string{"role.json"}, func(n *Need) (bool, string) { return n.Action != "eks:DescribeCluster", "" }),
	})
	for i := range r.Findings { // the folder is another one each time
		if at := strings.Index(r.Findings[i].Subject, " ("); at > 0 {
			r.Findings[i].Subject = r.Findings[i].Subject[:at]
		}
	}
	// The page about compatibility changes more often than the formats.
	r.Same, r.Differences = r.Same[:2], []Difference{
		{Subject: "options on spot", Karpenter: "one way", Here: "another", Instead: "not possible", Concerns: "1 NodePool allows spot: general"},
		{Subject: "placement", Karpenter: "one by one", Here: "together", Instead: "not possible", Everywhere: true},
		{Subject: "rest", Karpenter: "a", Here: "b", Instead: "c"},
	}
	return r
}

// TestFormats: the three formats, byte for byte.
func TestFormats(t *testing.T) {
	r := sample(t)
	for name, write := range map[string]func(io.Writer) error{
		"report.txt": r.WriteText, "report.html": r.WriteHTML,
		"report.json": func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			return enc.Encode(r)
		},
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil { //nolint:gosec // a golden file
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPage: the page needs nothing from elsewhere, runs nothing, and escapes what a
// cluster says.
func TestPage(t *testing.T) {
	var page bytes.Buffer
	if err := sample(t).WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "http://", "https://", "src=", "<link", "@import", "<cluster>", "<no>"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	for _, want := range []string{"&lt;cluster&gt;", "prefers-color-scheme: dark", `lang="en"`, "width=device-width"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
