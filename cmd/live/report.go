package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// row is a line of the table: a figure of each run.
type row struct {
	what string
	of   func(*figures) string
}

func rows() []row {
	seconds := func(p percentiles) string {
		return fmt.Sprintf("%.1f / %.1f / %.1f / %.1f", p.P50, p.P90, p.P99, p.Last)
	}
	nodes := func(f fleet) string {
		if f.Nodes == 0 {
			return "-"
		}
		return fmt.Sprintf("%d nodes, %.2f $/h", f.Nodes, f.Hourly)
	}
	return []row{
		{"pods", func(f *figures) string { return fmt.Sprint(f.Pods) }},
		{"last pod created after, s", func(f *figures) string { return fmt.Sprintf("%.1f", f.LastCreated) }},
		{"running after, s (50 / 90 / 99 % / last)", func(f *figures) string { return seconds(f.RunningAfter) }},
		{"waited, s (50 / 90 / 99 % / last)", func(f *figures) string { return seconds(f.Waited) }},
		{"node ready to pod bound, s (50 / 90 / 99 % / last)", func(f *figures) string { return seconds(f.ReadyToBound) }},
		{"last running after last created and boot, s", func(f *figures) string { return fmt.Sprintf("%+.1f", f.RunningAfter.Last-f.LastCreated-f.Boot) }},
		{"all pods run", func(f *figures) string { return nodes(f.Running) }},
		{"one plan", func(f *figures) string { return nodes(f.Plan) }},
		{"cost and nodes against one plan", func(f *figures) string { return against(f.Running, f.Plan) }},
		{"settled", func(f *figures) string {
			if f.Settled.Nodes > 0 && !f.IsSettled {
				return fmt.Sprintf("not within %.0f s; then %s", f.SettledAfter, nodes(f.Settled))
			}
			return fmt.Sprintf("%s after %.0f s", nodes(f.Settled), f.SettledAfter)
		}},
		{"settled against one plan", func(f *figures) string { return against(f.Settled, f.Plan) }},
		{"pods evicted while it settled", func(f *figures) string { return fmt.Sprint(f.Evictions) }},
		{"NodeClaims created", func(f *figures) string { return fmt.Sprintf("%.0f", f.Used.Launched) }},
		{"decisions", func(f *figures) string { return fmt.Sprintf("%.0f", f.Used.Decisions) }},
		{"calls to AWS and to the API server", func(f *figures) string { return fmt.Sprintf("%.0f, %.0f", f.Used.EC2Calls, f.Used.APICalls) }},
		{"processor time, s; peak memory, MB", func(f *figures) string { return fmt.Sprintf("%.1f; %.0f", f.Used.CPUSeconds, f.Used.PeakMB) }},
	}
}

// against returns the ratios of cost and of nodes.
func against(f, plan fleet) string {
	if plan.Nodes == 0 || f.Nodes == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f, %.2f", f.Hourly/plan.Hourly, float64(f.Nodes)/float64(plan.Nodes))
}

// report prints the runs of one scenario side by side.
func report(out io.Writer, results []*figures) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "%s\t", results[0].Scenario)
	for _, f := range results {
		_, _ = fmt.Fprintf(w, "%s\t", f.Controller)
	}
	_, _ = fmt.Fprintln(w)
	for _, r := range rows() {
		_, _ = fmt.Fprintf(w, "%s\t", r.what)
		for _, f := range results {
			_, _ = fmt.Fprintf(w, "%s\t", r.of(f))
		}
		_, _ = fmt.Fprintln(w)
	}
	return w.Flush()
}

// keep writes the runs of one scenario to a folder.
func keep(dir string, results []*figures) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of results: %w", err)
	}
	name := fmt.Sprintf("%s-%d-seed%d-boot%.0fs", results[0].Scenario, results[0].Pods, results[0].Seed, results[0].Boot)
	raw, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".json"), append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("write figures: %w", err)
	}
	var b strings.Builder
	plot(&b, results)
	if err := os.WriteFile(filepath.Join(dir, name+".svg"), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write the plot: %w", err)
	}
	return nil
}
