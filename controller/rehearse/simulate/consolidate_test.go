package simulate_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/controller/rehearse/simulate"
)

const (
	manifests = "../../../cmd/spokeshave/testdata/consolidate.yaml"
	prices    = "../../../cmd/spokeshave/testdata/consolidate-catalog.json"
)

// TestConsolidateSnapshot: of a snapshot that was taken of a cluster the same is said
// about its nodes as of the cluster's manifests.
func TestConsolidateSnapshot(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "cluster.json.gz")
	take(t, at, path)
	told := map[string]string{}
	for name, cfg := range map[string]simulate.Config{
		"manifests": {Manifests: []string{manifests}, Catalog: prices, Time: at, Consolidate: true},
		"snapshot":  {Manifests: []string{path}, Consolidate: true},
	} {
		result, err := simulate.Run(t.Context(), cfg)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var text strings.Builder
		if err := result.Report.WriteJSON(&text); err != nil {
			t.Fatal(err)
		}
		told[name] = text.String()
	}
	if !strings.Contains(told["manifests"], `"consolidation"`) {
		t.Fatalf("nothing is said about consolidation:\n%s", told["manifests"])
	}
	if diff := cmp.Diff(told["manifests"], told["snapshot"]); diff != "" {
		t.Errorf("-manifests +snapshot\n%s", diff)
	}
}

// TestMoveCost: a simulation says of a node what the moves of its pods cost, and its manifests
// or the setting say how much.
func TestMoveCost(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		cost   *float64
		moves  bool
	}{
		"default": {reason: "its pods are moved by default", moves: true},
		"none":    {reason: "and where moves cost nothing", cost: new(0.0), moves: true},
		"dear":    {reason: "the nodes do not cost as much as their pods' moves", cost: new(1.0)},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := simulate.Run(t.Context(), simulate.Config{Manifests: []string{manifests}, Catalog: prices, Time: at, Consolidate: true, MoveCost: tc.cost})
			if err != nil {
				t.Fatal(err)
			}
			moved := 0
			for _, m := range result.Report.Consolidation.Moves {
				if m.Method == "Underutilized" {
					moved++
				}
			}
			said := slices.ContainsFunc(result.Report.Consolidation.Kept, func(k scenario.ReportKept) bool {
				return strings.Contains(k.Reason, "$/h could be saved, and moving") && strings.Contains(k.Reason, "not worth it")
			})
			if (moved > 0) != tc.moves || said == tc.moves {
				t.Errorf("%s: %d moves, said: %t: %+v", tc.reason, moved, said, result.Report.Consolidation)
			}
		})
	}
}

// take writes a snapshot of the manifests into a file.
func take(t *testing.T, at time.Time, path string) {
	t.Helper()
	o, err := scenario.Read(manifests)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(prices)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Read(prices, raw)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := lower.Settings("", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := o.Take(scenario.Options{Time: at, Catalog: &c, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	if err := taken.SetDigest(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := taken.WriteCompressed(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
