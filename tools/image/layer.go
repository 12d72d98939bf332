package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// epoch is the modification time of every file and the creation time of the
// image: with the real time, two builds of one source would differ.
func epoch() time.Time { return time.Unix(0, 0).UTC() }

// newLayer packs the files and the folders they need, sorted by name, into a
// layer compressed with gzip.
func newLayer(files []file) (v1.Layer, error) {
	var plain bytes.Buffer
	if err := writeTar(&plain, withFolders(files)); err != nil {
		return nil, fmt.Errorf("pack the layer: %w", err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(plain.Bytes())), nil }
	// The layer is read twice, for its digest and for the layout; caching
	// compresses it once.
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("compress the layer: %w", err)
	}
	return layer, nil
}

// withFolders returns the files and every folder above them, sorted by name.
// The names of folders end in a slash.
func withFolders(files []file) []file {
	entries := map[string]file{}
	for _, f := range files {
		for dir := path.Dir(f.name); dir != "."; dir = path.Dir(dir) {
			entries[dir+"/"] = file{name: dir + "/", mode: 0o755}
		}
		entries[f.name] = f
	}
	sorted := make([]file, 0, len(entries))
	for _, f := range entries {
		sorted = append(sorted, f)
	}
	slices.SortFunc(sorted, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return sorted
}

// writeTar writes the files in their order, owned by root and dated epoch.
func writeTar(w io.Writer, files []file) error {
	tw := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: f.mode, Size: int64(len(f.body)), ModTime: epoch()}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := tw.WriteHeader(h); err != nil {
			return fmt.Errorf("write the header of %s: %w", f.name, err)
		}
		if _, err := tw.Write(f.body); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	if err := tw.Close(); err != nil {
		return fmt.Errorf("finish the tar: %w", err)
	}
	return nil
}
