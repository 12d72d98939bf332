package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// writeArchive puts the layout with top as its index.json into a tar file at
// path. The tar is written beside path and renamed when it is complete, so that
// an interrupted build leaves no file that looks finished.
func writeArchive(path string, top v1.ImageIndex) error {
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
	var files []file
	for _, name := range append([]string{"oci-layout", "index.json"}, blobs...) {
		body, err := fs.ReadFile(dir, name)
		if err != nil {
			return fmt.Errorf("read the layout: %w", err)
		}
		files = append(files, file{name: name, mode: 0o644, body: body})
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
	if err := writeTar(f, files); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
