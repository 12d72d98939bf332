package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"spokeshave.dev/tools/release/chart"
	"spokeshave.dev/tools/release/oci"
	"spokeshave.dev/tools/release/provenance"
	"spokeshave.dev/tools/release/sbom"
)

// at is the name of a repository of the release, in its registry if it has one.
func (r *release) at(repository string) string {
	if r.registry == "" {
		return repository
	}
	return r.registry + "/" + repository
}

// makeImages builds the controller's image and packs the charts, signs them, and adds all
// of it to the folder as one OCI layout.
func (r *release) makeImages(ctx context.Context) error {
	controller := r.at("controller")
	index, boms, err := r.makeIndex(ctx)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return fmt.Errorf("digest the image: %w", err)
	}
	entries := []oci.Entry{{Name: controller + ":" + r.version, Content: index}}
	signatures, err := r.attach(ctx, controller, digest, nil)
	if err != nil {
		return err
	}
	for _, b := range boms {
		more, err := r.attach(ctx, controller, b.digest, b.text)
		if err != nil {
			return err
		}
		signatures = append(signatures, more...)
	}
	charts, err := r.makeCharts(digest)
	if err != nil {
		return err
	}
	for _, c := range charts {
		entries = append(entries, oci.Entry{Name: c.repository + ":" + oci.ChartTag(r.version[1:]), Content: c.image})
		more, err := r.attach(ctx, c.repository, c.digest, nil)
		if err != nil {
			return err
		}
		signatures = append(signatures, more...)
	}
	return r.addLayout(append(entries, signatures...))
}

// addLayout adds the layout with the entries to the folder, as a tar file.
func (r *release) addLayout(entries []oci.Entry) error {
	start := time.Now()
	fmt.Fprintf(r.progress, "compressing the images … ")
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return fmt.Errorf("make a folder for the layout: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "oci.tar")
	if err := oci.WriteLayout(path, oci.NewLayout(entries...)); err != nil {
		return err
	}
	body, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the layout: %w", err)
	}
	r.add("spokeshave-"+r.version+layoutEnding, body)
	fmt.Fprintln(r.progress, time.Since(start).Round(100*time.Millisecond))
	return nil
}

// bom is the SBOM of the image with a digest.
type bom struct {
	digest v1.Hash
	text   []byte
}

// makeIndex builds the controller's image for each platform.
func (r *release) makeIndex(ctx context.Context) (v1.ImageIndex, []bom, error) {
	base, err := oci.BaseFiles(r.source)
	if err != nil {
		return nil, nil, err
	}
	shared, err := oci.NewLayer(append(base, oci.Notices(r.notices)))
	if err != nil {
		return nil, nil, err
	}
	image := oci.Image{Version: r.version, Created: r.commit.time}
	var images []oci.PlatformImage
	var boms []bom
	for _, p := range r.images {
		compiled, text, err := r.compile(ctx, controllerPackage, p)
		if err != nil {
			return nil, nil, err
		}
		layer, err := oci.NewLayer([]oci.File{oci.Program(compiled.Binary)})
		if err != nil {
			return nil, nil, err
		}
		img, err := image.Platform(p, shared, layer)
		if err != nil {
			return nil, nil, err
		}
		digest, err := img.Digest()
		if err != nil {
			return nil, nil, fmt.Errorf("digest the image for %s: %w", p, err)
		}
		images, boms = append(images, oci.PlatformImage{Platform: p, Image: img}), append(boms, bom{digest, text})
	}
	return image.Index(images), boms, nil
}

// packedChart is a chart as an artifact.
type packedChart struct {
	repository string
	image      v1.Image
	digest     v1.Hash
}

// makeCharts packs every chart, with the image if it will be somewhere.
func (r *release) makeCharts(image v1.Hash) ([]packedChart, error) {
	stamp := chart.Stamp{Version: r.version[1:], AppVersion: r.version, Time: r.commit.time}
	if r.registry != "" {
		stamp.Repository, stamp.Digest = r.at("controller"), image.String()
	}
	folders, err := filepath.Glob(filepath.Join(r.source, "charts", "*", "Chart.yaml"))
	if err != nil || len(folders) == 0 {
		return nil, fmt.Errorf("find charts in %s/charts: %d found, %w", r.source, len(folders), err)
	}
	var out []packedChart
	for _, f := range folders {
		packed, err := chart.Pack(filepath.Dir(f), stamp)
		if err != nil {
			return nil, err
		}
		r.add(packed.Name+"-"+stamp.Version+".tgz", packed.Archive)
		artifact, err := oci.Chart(packed.Archive, packed.Metadata, packed.Annotations)
		if err != nil {
			return nil, err
		}
		digest, err := artifact.Digest()
		if err != nil {
			return nil, fmt.Errorf("digest the chart %s: %w", packed.Name, err)
		}
		out = append(out, packedChart{r.at("charts/" + packed.Name), artifact, digest})
	}
	return out, nil
}

// attach signs a digest and what is stated about it: its provenance and, if there is one,
// its SBOM. Without a key there is nothing to attach.
func (r *release) attach(ctx context.Context, repository string, digest v1.Hash, bom []byte) ([]oci.Entry, error) {
	if r.key == nil {
		return nil, nil
	}
	payload, err := oci.NewPayload(repository, digest)
	if err != nil {
		return nil, fmt.Errorf("write what is signed for %s: %w", digest, err)
	}
	signature, err := r.key.Sign(ctx, payload)
	if err != nil {
		return nil, err
	}
	signed, err := oci.Signature(payload, signature)
	if err != nil {
		return nil, err
	}
	subject := provenance.NewSubject(repository, digest.Hex)
	made, err := r.made().Provenance(subject)
	if err != nil {
		return nil, err
	}
	all := []oci.Attestation{{PredicateType: provenance.PredicateType, Envelope: made}}
	if bom != nil {
		stated, err := provenance.State(sbom.PredicateType, json.RawMessage(bom), subject)
		if err != nil {
			return nil, err
		}
		all = append(all, oci.Attestation{PredicateType: sbom.PredicateType, Envelope: stated})
	}
	for i := range all {
		if all[i].Envelope, err = r.key.Envelope(ctx, all[i].Envelope); err != nil {
			return nil, err
		}
	}
	attested, err := oci.Attestations(all...)
	if err != nil {
		return nil, err
	}
	return []oci.Entry{
		{Name: repository + ":" + oci.CosignTag(digest, oci.SignatureTag), Content: signed},
		{Name: repository + ":" + oci.CosignTag(digest, oci.AttestationTag), Content: attested},
	}, nil
}

// subjects are the images and charts of the release for its provenance, by the names that
// the layout has.
func subjects(top v1.ImageIndex) ([]provenance.Subject, error) {
	manifest, err := top.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read the layout: %w", err)
	}
	var out []provenance.Subject
	for _, d := range manifest.Manifests {
		if name := d.Annotations[oci.RefName]; !strings.Contains(name, ":sha256-") {
			out = append(out, provenance.NewSubject(name, d.Digest.Hex))
		}
	}
	return out, nil
}
