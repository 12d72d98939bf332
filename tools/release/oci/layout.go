package oci

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// RefName is the annotation of a layout's entry with the name that it goes by.
const RefName = "org.opencontainers.image.ref.name"

// Entry is an entry of a layout: an image or an index under a name.
type Entry struct {
	Name    string
	Content mutate.Appendable
}

// NewLayout is the content of index.json: an entry for each name.
func NewLayout(entries ...Entry) v1.ImageIndex {
	adds := make([]mutate.IndexAddendum, 0, len(entries))
	for _, e := range entries {
		adds = append(adds, mutate.IndexAddendum{
			Add: e.Content, Descriptor: v1.Descriptor{Annotations: map[string]string{RefName: e.Name}},
		})
	}
	return mutate.AppendManifests(empty.Index, adds...)
}

// WriteLayout puts the layout with top as its index.json into a tar file at
// path. The tar is written beside path and renamed when it is complete, so that
// an interrupted build leaves no file that looks finished.
func WriteLayout(path string, top v1.ImageIndex) error {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return fmt.Errorf("make a folder for the layout: %w", err)
	}
	defer os.RemoveAll(dir)
	if _, err := layout.Write(dir, top); err != nil {
		return fmt.Errorf("write the layout: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	if err := packLayout(path+".part", os.DirFS(dir)); err != nil {
		return err
	}
	if err := os.Rename(path+".part", path); err != nil {
		return fmt.Errorf("finish %s: %w", path, err)
	}
	return nil
}

// packLayout writes the files of a layout into a tar file at path, the blobs
// last and sorted by digest. Their modes and times on disk are left behind.
func packLayout(path string, dir fs.FS) (err error) {
	blobs, err := fs.Glob(dir, "blobs/*/*")
	if err != nil {
		return fmt.Errorf("list the blobs: %w", err)
	}
	var files []File
	for _, name := range append([]string{"oci-layout", "index.json"}, blobs...) {
		body, err := fs.ReadFile(dir, name)
		if err != nil {
			return fmt.Errorf("read the layout: %w", err)
		}
		files = append(files, File{Name: name, Mode: 0o644, Body: body})
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	if err := WriteTar(f, files, Epoch()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
