package oci

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

// Epoch is the modification time of every file in an image: with that of the commit, no
// layer could be shared by two releases.
func Epoch() time.Time { return time.Unix(0, 0).UTC() }

// NewLayer packs the files and the folders they need, sorted by name, into a
// layer compressed with gzip.
func NewLayer(files []File) (v1.Layer, error) {
	var plain bytes.Buffer
	if err := WriteTar(&plain, withFolders(files), Epoch()); err != nil {
		return nil, fmt.Errorf("pack the layer: %w", err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(plain.Bytes())), nil }
	// The layer is read twice, for its digest and for the layout; caching compresses it
	// once. The highest level takes twice as long, for less than one per cent.
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("compress the layer: %w", err)
	}
	return layer, nil
}

// withFolders returns the files and every folder above them, sorted by name.
// The names of folders end in a slash.
func withFolders(files []File) []File {
	entries := map[string]File{}
	for _, f := range files {
		for dir := path.Dir(f.Name); dir != "."; dir = path.Dir(dir) {
			entries[dir+"/"] = File{Name: dir + "/", Mode: 0o755}
		}
		entries[f.Name] = f
	}
	sorted := make([]File, 0, len(entries))
	for _, f := range entries {
		sorted = append(sorted, f)
	}
	slices.SortFunc(sorted, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return sorted
}

// WriteTar writes the files in their order, owned by root and dated at.
func WriteTar(w io.Writer, files []File, at time.Time) error {
	tw := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{Name: f.Name, Typeflag: tar.TypeReg, Mode: f.Mode, Size: int64(len(f.Body)), ModTime: at}
		if strings.HasSuffix(f.Name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := tw.WriteHeader(h); err != nil {
			return fmt.Errorf("write the header of %s: %w", f.Name, err)
		}
		if _, err := tw.Write(f.Body); err != nil {
			return fmt.Errorf("write %s: %w", f.Name, err)
		}
	}
	if err := tw.Close(); err != nil {
		return fmt.Errorf("finish the tar: %w", err)
	}
	return nil
}

// WriteArchive writes the files in their order as tar.gz, dated at.
func WriteArchive(w io.Writer, files []File, at time.Time) error {
	zw := gzip.NewWriter(w)
	if err := WriteTar(zw, files, at); err != nil {
		return err
	}
	if err := zw.Close(); err != nil {
		return fmt.Errorf("finish the archive: %w", err)
	}
	return nil
}
