package scenario

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source is the position of an object in a file.
type Source struct {
	File string
	Line int // of the object's first line, from 1
}

// String is file:line.
func (s Source) String() string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// Error is an error in a file, with its position.
type Error struct {
	Source
	Err error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Source, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Warning is a problem in a file, or in the scenario as a whole (then File is empty),
// that its author should know about and that is no error.
type Warning struct {
	Source
	Message string
}

// String is "file:line: message".
func (w Warning) String() string {
	if w.File == "" {
		return w.Message
	}
	return w.Source.String() + ": " + w.Message
}

// maxFile is the largest size of an uncompressed file in bytes.
const maxFile = 1 << 30

// files returns the manifest files of a path: the file itself, or those of a folder and
// its subfolders, sorted by name.
func files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var out []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != path && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !d.IsDir() && manifest(d.Name()):
			out = append(out, p)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("read manifests: %s holds no .yaml, .yml or .json file", path)
	}
	slices.Sort(out)
	return out, nil
}

func manifest(name string) bool {
	if strings.HasPrefix(name, ".") {
		return false
	}
	switch filepath.Ext(strings.TrimSuffix(name, ".gz")) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// ReadFile reads a file. It decompresses gzip, whatever the file's name.
func ReadFile(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	if !bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		return raw, nil
	}
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	plain, err := io.ReadAll(io.LimitReader(zip, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	if len(plain) > maxFile {
		return nil, fmt.Errorf("unpack %s: more than %d bytes", path, maxFile)
	}
	return plain, nil
}
