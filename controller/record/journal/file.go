package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// File is a log file of bounded size. When it is full it is renamed to NAME.1, which
// replaces the previous NAME.1.
type File struct {
	path string
	most int64
	file *os.File
	size int64
}

// OpenFile opens a file for appending. The file holds at most most bytes; one older
// file of the same size is kept.
func OpenFile(path string, most int64) (*File, error) {
	f := &File{path: path, most: most}
	return f, f.open()
}

func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open decision log: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("open decision log: %w", err), file.Close())
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Write implements io.Writer. Each call writes one line, which is never split between
// files.
func (f *File) Write(line []byte) (int, error) {
	if f.file == nil || f.size > 0 && f.size+int64(len(line)) > f.most {
		if err := f.turn(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(line)
	f.size += int64(n)
	return n, err
}

func (f *File) turn() error {
	if f.file != nil {
		err := f.file.Close()
		f.file = nil
		if err != nil {
			return fmt.Errorf("close decision log: %w", err)
		}
	}
	if err := os.Rename(f.path, f.path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("turn decision log: %w", err)
	}
	return f.open()
}

// Close implements io.Closer.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
