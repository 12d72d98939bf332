package dashboards

import (
	"slices"
	"strings"
	"testing"
)

// series is a metric that somebody asks for, with the labels that it must have.
type series struct {
	In     string   `json:"in"`
	Metric string   `json:"metric"`
	Labels []string `json:"labels"`
	After  string   `json:"after"`
}

// TestPublishedDashboards: every series that published dashboards and alerts for Karpenter
// ask for is made, with its labels. test/suite/e2e finds them in what a controller serves.
func TestPublishedDashboards(t *testing.T) {
	var all []series
	read(t, "testdata/karpenter-series.yaml", &all)
	known, own := registered(t), 0
	for _, s := range all {
		if !strings.HasPrefix(s.Metric, "karpenter_") && !strings.HasPrefix(s.Metric, "operator_") {
			continue // of a library
		}
		own++
		labels, ok := known[s.Metric]
		if !ok {
			labels, ok = known[base(s.Metric)]
		}
		if !ok && !sourced(t)[s.Metric] && !sourced(t)[base(s.Metric)] {
			t.Errorf("%s: nothing measures %s", s.In, s.Metric)
		}
		for _, l := range s.Labels {
			if ok && !slices.Contains(labels, l) && l != "quantile" {
				t.Errorf("%s: %s has no label %s", s.In, s.Metric, l)
			}
		}
	}
	if own < 30 {
		t.Errorf("%d series of our own are asked for, want more", own)
	}
}
