package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spokeshave.dev/controller/rehearse/backtest"
)

const exampleTrace = "../../examples/backtest/trace.csv"

// TestBacktest runs the example, whose policy sets launch different nodes.
func TestBacktest(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	args := []string{
		"backtest", "--trace", exampleTrace, "-f", "../../examples/backtest/cluster.yaml", "--for", "8h",
		"--policies", "none,../../examples/backtest/on-demand", "--html", page, "-o", "json",
	}
	code, stdout, stderr := command(t, args...)
	var got backtest.Report
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	spot, onDemand := got.Sets[0], got.Sets[1]
	if spot.Name != "none" || onDemand.Name != "on-demand" || spot.NodeHours["spot"] == 0 || onDemand.NodeHours["spot"] != 0 || onDemand.USD <= spot.USD {
		t.Errorf("%+v\n%+v", spot, onDemand)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "<polyline") {
		t.Errorf("the page: %v", err)
	}
	_, again, _ := command(t, args...)
	if again != stdout {
		t.Error("the same seed gives another result")
	}
}

func TestBacktestRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"trace":     {nil, "no trace: name a file with --trace"},
		"manifests": {[]string{"--trace", exampleTrace}, "no manifests"},
		"pools":     {[]string{"--trace", exampleTrace, "-f", "testdata/existing.yaml", "--start", "soon"}, "--start soon: want RFC 3339"},
		"set":       {[]string{"--trace", exampleTrace, "-f", "../../examples/backtest/cluster.yaml", "--policies", "nowhere"}, "nowhere"},
		"file":      {[]string{"--trace", "gone.csv", "-f", "../../examples/backtest/cluster.yaml"}, "gone.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := command(t, append([]string{"backtest"}, tc.args...)...)
			if code != exitBadInput || stdout != "" || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit %d, %q: %s", code, stdout, stderr)
			}
		})
	}
}
