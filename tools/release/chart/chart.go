// Package chart packs a Helm chart for a release: with its version and the image that was
// built with it, and the same bytes each time. (helm package dates the files when it runs.)
package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/tools/release/oci"
)

// Annotations by which the chart's templates find its image.
const (
	RepositoryNote = "spokeshave.dev/image-repository"
	DigestNote     = "spokeshave.dev/image-digest"
)

// Stamp says what a release writes into a chart.
type Stamp struct {
	// Version is that of the release, without a leading v. AppVersion is the tag of the image.
	Version, AppVersion string
	// Repository and Digest are the image. Empty: the chart has no image of its own. A
	// chart without an appVersion runs nothing, and gets neither tag nor image.
	Repository, Digest string
	// Time is what the chart's files are dated.
	Time time.Time
}

// Packed is a packaged chart.
type Packed struct {
	Name string
	// Archive is the tar.gz that Helm reads.
	Archive []byte
	// Metadata is its Chart.yaml as JSON, Annotations those of its artifact.
	Metadata    []byte
	Annotations map[string]string
}

// Pack reads the chart in a folder, without what its .helmignore names, and packs it.
func Pack(folder string, s Stamp) (*Packed, error) {
	loaded, err := loader.LoadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the chart in %s: %w", folder, err)
	}
	meta := loaded.Metadata
	meta.Version = s.Version
	runs := meta.AppVersion != ""
	if runs {
		meta.AppVersion = s.AppVersion
	}
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	if runs && s.Repository != "" {
		meta.Annotations[RepositoryNote], meta.Annotations[DigestNote] = s.Repository, s.Digest
		images, err := yaml.Marshal([]map[string]string{{"name": "controller", "image": s.Repository + ":" + s.AppVersion + "@" + s.Digest}})
		if err != nil {
			return nil, fmt.Errorf("list the images of %s: %w", meta.Name, err)
		}
		meta.Annotations["artifacthub.io/images"] = string(images)
	}
	if err := loaded.Validate(); err != nil {
		return nil, fmt.Errorf("check the chart %s: %w", meta.Name, err)
	}
	files, err := files(loaded)
	if err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	if err := oci.WriteArchive(&archive, files, s.Time); err != nil {
		return nil, fmt.Errorf("pack the chart %s: %w", meta.Name, err)
	}
	// What Helm would not read again is no chart.
	if _, err := loader.LoadArchive(bytes.NewReader(archive.Bytes())); err != nil {
		return nil, fmt.Errorf("read the packed chart %s: %w", meta.Name, err)
	}
	config, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("describe the chart %s: %w", meta.Name, err)
	}
	return &Packed{Name: meta.Name, Archive: archive.Bytes(), Metadata: config, Annotations: map[string]string{
		"org.opencontainers.image.title":       meta.Name,
		"org.opencontainers.image.version":     meta.Version,
		"org.opencontainers.image.description": meta.Description,
		"org.opencontainers.image.url":         meta.Home,
		"org.opencontainers.image.created":     s.Time.UTC().Format(time.RFC3339),
	}}, nil
}

// files are those of the archive, Chart.yaml first. Raw has the files as they are on disk,
// in the order of the file system's walk, which is that of their names.
func files(c *chart.Chart) ([]oci.File, error) {
	text, err := yaml.Marshal(c.Metadata)
	if err != nil {
		return nil, fmt.Errorf("write the Chart.yaml of %s: %w", c.Name(), err)
	}
	out := []oci.File{{Name: path.Join(c.Name(), "Chart.yaml"), Mode: 0o644, Body: text}}
	for _, f := range c.Raw {
		if f.Name != "Chart.yaml" {
			out = append(out, oci.File{Name: path.Join(c.Name(), f.Name), Mode: 0o644, Body: f.Data})
		}
	}
	return out, nil
}
