package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// askedSeries is a series that published dashboards and alerts for Karpenter ask for.
type askedSeries struct {
	In     string   `json:"in"`
	Metric string   `json:"metric"`
	Labels []string `json:"labels"`
	After  string   `json:"after"`
}

// TestPublishedDashboards: published dashboards and alerts for Karpenter find every series
// they ask for in what the controller serves, once it has launched and ended a node.
func TestPublishedDashboards(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../dashboards/testdata/karpenter-series.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var asked []askedSeries
	if err := yaml.UnmarshalStrict(text, &asked); err != nil {
		t.Fatal(err)
	}
	l := newTenant(t, "dashboards", plan{types: "c5a.large", capacity: "on-demand"})
	if _, err := stack.Kubectl(t.Context(), "patch", "nodepool", l.name, "--type=merge", "-p", `{"spec": {"limits": {"cpu": 40}}}`); err != nil {
		t.Fatal(err)
	}
	l.deploy("app", 1, "500m")
	l.run(1)
	l.until("one machine", l.machines(1))
	old := l.only()
	l.remove(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: old.Node}})
	l.until("the old machine to go", gone(old.Claim))
	l.run(1)
	l.until("the series of dashboards for Karpenter", func(ctx context.Context) (string, bool) {
		served, err := scrape(ctx)
		if err != nil {
			return err.Error(), false
		}
		for i := range asked {
			if lack := asked[i].missing(served); lack != "" {
				return lack, false
			}
		}
		return "", true
	})
}

// scrape returns the names of the series that the controller serves, with the labels of
// each.
func scrape(ctx context.Context) (map[string][]map[string]bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, stack.MetricsURL()+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	out := map[string][]map[string]bool{}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := sample.FindStringSubmatch(lines.Text())
		if m == nil {
			continue // a comment
		}
		labels := map[string]bool{}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			labels[l[1]] = true
		}
		out[m[1]] = append(out[m[1]], labels)
	}
	return out, lines.Err()
}

// Lines of the text format, and the names of their labels.
var (
	sample = regexp.MustCompile(`^([a-z_0-9]+)(?:\{(.*)\})? `)
	label  = regexp.MustCompile(`([a-z_0-9]+)="(?:[^"\\]|\\.)*"`)
)

// missing says what is not there of what is asked for, "" for nothing.
func (a *askedSeries) missing(served map[string][]map[string]bool) string {
	all := served[a.Metric]
	if len(all) == 0 && a.After == "" {
		return fmt.Sprintf("%s: %s is not served", a.In, a.Metric)
	}
	for _, label := range a.Labels {
		for _, labels := range all {
			if !labels[label] {
				return fmt.Sprintf("%s: %s has no label %s", a.In, a.Metric, label)
			}
		}
	}
	return ""
}
