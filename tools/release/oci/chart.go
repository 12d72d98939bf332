package oci

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Media types that Helm reads charts by.
const (
	chartConfig  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartContent types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// ChartTag is the tag of a chart's version: a tag cannot have the + of a version.
func ChartTag(version string) string { return strings.ReplaceAll(version, "+", "_") }

// chart is a chart as an artifact; partial adds the rest of v1.Image.
type chart struct {
	config, manifest []byte
	content          v1.Layer
}

// Chart is a packaged chart as "helm push" would store it. metadata is its Chart.yaml as
// JSON; annotations describe the artifact.
func Chart(archive, metadata []byte, annotations map[string]string) (v1.Image, error) {
	c := &chart{config: metadata, content: static.NewLayer(archive, chartContent)}
	layer, err := partial.Descriptor(c.content)
	if err != nil {
		return nil, fmt.Errorf("describe the chart: %w", err)
	}
	sum := sha256.Sum256(metadata)
	config := v1.Descriptor{
		MediaType: chartConfig, Size: int64(len(metadata)),
		Digest: v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum[:])},
	}
	c.manifest, err = json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config, Layers: []v1.Descriptor{*layer}, Annotations: annotations,
	})
	if err != nil {
		return nil, fmt.Errorf("write the manifest of the chart: %w", err)
	}
	return partial.CompressedToImage(c)
}

// RawConfigFile implements partial.CompressedImageCore.
func (c *chart) RawConfigFile() ([]byte, error) { return c.config, nil }

// MediaType implements partial.CompressedImageCore.
func (c *chart) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// RawManifest implements partial.CompressedImageCore.
func (c *chart) RawManifest() ([]byte, error) { return c.manifest, nil }

// LayerByDigest implements partial.CompressedImageCore. The config is a layer, too, to who
// writes a layout.
func (c *chart) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	if digest, err := c.content.Digest(); err == nil && h == digest {
		return c.content, nil
	}
	return nil, fmt.Errorf("the chart has no layer %s: %w", h, io.ErrUnexpectedEOF)
}
