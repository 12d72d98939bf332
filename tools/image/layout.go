package main

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The media types of the OCI image specification, version 1.1.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor points at a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// index lists manifests, or further indexes.
type index struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Manifests     []descriptor      `json:"manifests"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

// manifest is the image for one platform.
type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

// config says how to run the image.
type config struct {
	platform

	Created time.Time `json:"created"`
	Config  struct {
		User       string            `json:"User"`
		Entrypoint []string          `json:"Entrypoint"`
		Env        []string          `json:"Env"`
		WorkingDir string            `json:"WorkingDir"`
		Labels     map[string]string `json:"Labels"`
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []history `json:"history"`
}

type history struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}

// layout is an image in the making.
type layout struct {
	version string
	blobs   map[string][]byte
	images  []descriptor
}

func newLayout(version string) *layout {
	return &layout{version: version, blobs: map[string][]byte{}}
}

func (l *layout) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    "spokeshave",
		"org.opencontainers.image.version":  l.version,
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.url":      "https://spokeshave.dev",
	}
}

// add keeps a blob and returns what points at it.
func (l *layout) add(mediaType string, blob []byte) descriptor {
	d := digest(blob)
	l.blobs[d] = blob
	return descriptor{MediaType: mediaType, Digest: d, Size: int64(len(blob))}
}

func (l *layout) addJSON(mediaType string, v any) (descriptor, error) {
	blob, err := json.Marshal(v)
	if err != nil {
		return descriptor{}, fmt.Errorf("encode %s: %w", mediaType, err)
	}
	return l.add(mediaType, blob), nil
}

// addImage adds the image for a platform.
func (l *layout) addImage(p platform, layers ...layer) error {
	c := config{platform: p, Created: epoch()}
	c.Config.User = fmt.Sprintf("%d:%d", user, user)
	c.Config.Entrypoint = []string{"/" + entrypoint}
	c.Config.Env = []string{"SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"}
	c.Config.WorkingDir = "/"
	c.Config.Labels = l.labels()
	c.RootFS.Type = "layers"
	m := manifest{SchemaVersion: 2, MediaType: typeManifest}
	for i, each := range layers {
		c.RootFS.DiffIDs = append(c.RootFS.DiffIDs, each.diffID)
		c.History = append(c.History, history{Created: epoch(), CreatedBy: fmt.Sprintf("spokeshave image, layer %d", i)})
		m.Layers = append(m.Layers, l.add(typeLayer, each.blob))
	}
	var err error
	if m.Config, err = l.addJSON(typeConfig, c); err != nil {
		return err
	}
	d, err := l.addJSON(typeManifest, m)
	if err != nil {
		return err
	}
	d.Platform = &p
	l.images = append(l.images, d)
	return nil
}

// write puts the layout into a tar file at path, by way of a temporary file so
// that an interrupted build leaves none that looks finished.
func (l *layout) write(path string) error {
	top, err := l.addJSON(typeIndex, index{SchemaVersion: 2, MediaType: typeIndex, Manifests: l.images, Annotations: l.labels()})
	if err != nil {
		return err
	}
	top.Annotations = map[string]string{"org.opencontainers.image.ref.name": l.version}
	entry, err := json.Marshal(index{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{top}})
	if err != nil {
		return fmt.Errorf("encode index.json: %w", err)
	}
	files := []file{
		{name: "oci-layout", mode: 0o644, body: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{name: "index.json", mode: 0o644, body: entry},
	}
	for d, blob := range l.blobs {
		files = append(files, file{name: "blobs/" + strings.Replace(d, ":", "/", 1), mode: 0o644, body: blob})
	}
	slices.SortFunc(files[2:], func(a, b file) int { return strings.Compare(a.name, b.name) })
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	if err := writeTar(path+".part", files); err != nil {
		return err
	}
	if err := os.Rename(path+".part", path); err != nil {
		return fmt.Errorf("finish %s: %w", path, err)
	}
	return nil
}

func writeTar(path string, files []file) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	tw := tar.NewWriter(f)
	for _, each := range files {
		h := &tar.Header{Name: each.name, Typeflag: tar.TypeReg, Mode: each.mode, Size: int64(len(each.body)), ModTime: epoch()}
		if err := tw.WriteHeader(h); err != nil {
			return fmt.Errorf("write %s: %w", each.name, err)
		}
		if _, err := tw.Write(each.body); err != nil {
			return fmt.Errorf("write %s: %w", each.name, err)
		}
	}
	if err := tw.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
