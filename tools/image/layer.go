package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// layer is a gzipped tar of files.
type layer struct {
	blob []byte
	// diffID is the digest of the tar before compression.
	diffID string
}

// epoch is the age of every file and of the image itself: a real date would
// make two builds of one source differ.
func epoch() time.Time { return time.Unix(0, 0).UTC() }

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// newLayer packs the files and the folders they need, sorted by name.
func newLayer(files []file) (layer, error) {
	entries := map[string]*tar.Header{}
	bodies := map[string][]byte{}
	for _, f := range files {
		for dir := path.Dir(f.name); dir != "."; dir = path.Dir(dir) {
			entries[dir+"/"] = &tar.Header{Name: dir + "/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: epoch()}
		}
		entries[f.name] = &tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: f.mode, Size: int64(len(f.body)), ModTime: epoch()}
		bodies[f.name] = f.body
	}
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	var plain bytes.Buffer
	tw := tar.NewWriter(&plain)
	for _, name := range names {
		if err := tw.WriteHeader(entries[name]); err != nil {
			return layer{}, fmt.Errorf("pack %s: %w", name, err)
		}
		if _, err := tw.Write(bodies[name]); err != nil {
			return layer{}, fmt.Errorf("pack %s: %w", name, err)
		}
	}
	if err := tw.Close(); err != nil {
		return layer{}, fmt.Errorf("finish the layer: %w", err)
	}
	var packed bytes.Buffer
	zw, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return layer{}, fmt.Errorf("compress the layer: %w", err)
	}
	if _, err := zw.Write(plain.Bytes()); err != nil {
		return layer{}, fmt.Errorf("compress the layer: %w", err)
	}
	if err := zw.Close(); err != nil {
		return layer{}, fmt.Errorf("compress the layer: %w", err)
	}
	return layer{blob: packed.Bytes(), diffID: digest(plain.Bytes())}, nil
}
