package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTimes(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	pods := []podTimes{
		{node: "new", created: at(1), bound: at(10.5), running: at(11)},
		{node: "new", created: at(12), bound: at(12.5), running: at(13)}, // came when the node was ready
		{node: "old", created: at(2), bound: at(2.5), running: at(3)},
		{created: at(4), deleted: at(5)},
	}
	ready := map[string]time.Time{"new": at(9), "old": at(-100)}
	var got figures
	got.times(start, pods, ready)
	want := figures{
		Pods: 4, LastCreated: 12,
		RunningAfter: percentiles{P50: 11, P90: 13, P99: 13, Last: 13},
		Waited:       percentiles{P50: 1, P90: 10, P99: 10, Last: 10},
		ReadyToBound: percentiles{P50: 1.5, P90: 1.5, P99: 1.5, Last: 1.5},
	}
	if s := got.Slowest; len(s) != 3 || s[0] != (slowPod{Node: "new", Created: 1, Ready: 9, Bound: 10.5, Running: 11}) {
		t.Errorf("the slowest are %+v", s)
	}
	line := got.Line
	got.Line, got.Slowest = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	if len(line) != 14 || line[13] != (second{Created: 4, Bound: 3, Running: 3}) || line[3] != (second{Created: 2, Bound: 1, Running: 1}) {
		t.Errorf("the line is %+v", line)
	}
}

// The plot has a line for each state of each run, and the table a column for each run.
func TestReport(t *testing.T) {
	f := func(name string) *figures {
		return &figures{Scenario: "web", Controller: name, Pods: 2, Line: []second{{1, 0, 0}, {2, 2, 1}}, Running: fleet{3, 6}, Plan: fleet{2, 5}}
	}
	var table, picture strings.Builder
	if err := report(&table, []*figures{f("base"), f("working tree")}); err != nil {
		t.Fatal(err)
	}
	plot(&picture, []*figures{f("base"), f("working tree")})
	if !strings.Contains(table.String(), "1.200, 1.50") || strings.Count(table.String(), "3 nodes, 6.00 $/h") != 2 {
		t.Errorf("the table does not compare with one plan:\n%s", &table)
	}
	if n := strings.Count(picture.String(), `<path fill="none"`); n != 6 {
		t.Errorf("the plot has %d lines, want 6:\n%s", n, &picture)
	}
}

func TestChoose(t *testing.T) {
	got, err := choose([]string{"drain", "web"})
	if err != nil || len(got) != 2 || got[0].name != "drain" {
		t.Errorf("chose %v, %v", got, err)
	}
	if _, err := choose([]string{"other"}); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("an unknown scenario: %v", err)
	}
}
