package chart

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRunbooks: every alert has a section on the page that tells what to do, every section an
// alert, and the alert leads there when the chart is told where the page is.
func TestRunbooks(t *testing.T) {
	page, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n## Alerts\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	want := map[string]string{}
	for line := range strings.Lines(rest) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "### "); ok {
			want[name] = "https://docs.example/operations#" + strings.ToLower(name)
		}
	}
	h := newHelm(t)
	got := alerts(t, h, `{prometheusRule: {enabled: true, runbookURL: "https://docs.example/operations"}}`)
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 15 {
		t.Errorf("alerts and where they lead -page +chart\n%s", diff)
	}
	plain := alerts(t, h, `{prometheusRule: {enabled: true}}`)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(plain))); diff != "" {
		t.Errorf("alerts without runbookURL -with +without\n%s", diff)
	}
	for name, link := range plain {
		if link != "" {
			t.Errorf("%s leads to %q, and nobody has said where the page is", name, link)
		}
	}
}

// alerts returns the runbook_url of each alert of the chart.
func alerts(t *testing.T, h helm, values string) map[string]string {
	t.Helper()
	rules := h.render(t, values)["PrometheusRule/spokeshave"]
	groups, _, err := unstructured.NestedSlice(rules.Object, "spec", "groups")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, group := range groups {
		list, _, err := unstructured.NestedSlice(group.(map[string]any), "rules") //nolint:forcetypeassert // else the test fails
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range list {
			rule := each.(map[string]any) //nolint:forcetypeassert // else the test fails
			if name, ok := rule["alert"].(string); ok {
				link, _, err := unstructured.NestedString(rule, "annotations", "runbook_url")
				if err != nil {
					t.Fatal(err)
				}
				out[name] = link
			}
		}
	}
	return out
}
