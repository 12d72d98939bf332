package chart_test

import (
	"bytes"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart/loader"

	"spokeshave.dev/tools/release/chart"
)

// TestCharts: the charts of this repository are packed whole, and only the one that runs
// something gets the image.
func TestCharts(t *testing.T) {
	for name, tc := range map[string]struct {
		runs  bool
		files int // at least
	}{
		"spokeshave":      {true, 50},
		"spokeshave-crds": {false, 5},
	} {
		t.Run(name, func(t *testing.T) {
			packed, err := chart.Pack("../../../charts/"+name, chart.Stamp{
				Version: "1.2.3", AppVersion: "v1.2.3", Repository: "registry.example/controller", Digest: "sha256:1", Time: time.Unix(1, 0),
			})
			if err != nil {
				t.Fatal(err)
			}
			c, err := loader.LoadArchive(bytes.NewReader(packed.Archive))
			if err != nil {
				t.Fatal(err)
			}
			if c.Name() != name || c.Metadata.Version != "1.2.3" || len(c.Raw) < tc.files {
				t.Errorf("%s %s with %d files, want at least %d", c.Name(), c.Metadata.Version, len(c.Raw), tc.files)
			}
			if image := c.Metadata.Annotations["artifacthub.io/images"]; (image != "") != tc.runs || (c.AppVersion() == "v1.2.3") != tc.runs {
				t.Errorf("appVersion %q, images %q", c.AppVersion(), image)
			}
		})
	}
}
