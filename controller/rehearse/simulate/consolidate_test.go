package simulate_test

import (
	"os"
	"path/filepath"
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
	settings, err := lower.Settings("", "")
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
