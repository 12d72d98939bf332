package wasm

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wasm/meter"
)

// Elsewhere runs Work in another process. take reads what Work writes, while it is written.
type Elsewhere func(ctx context.Context, info *policy.Info, order, module []byte, take func(io.Reader) error) error

// maxMetered is the most bytes of a metered module. Its original has at most 8 MiB, and all
// that metering adds weighs something.
const maxMetered = 24 << 20

// fetch has a module compiled elsewhere and loads the code.
func (e *Engine) fetch(ctx context.Context, p *Policy, src *policy.Source) error {
	text, err := json.Marshal(order{Limits: p.limits.module, Hooks: src.Info.Hooks})
	if err != nil {
		return fmt.Errorf("encode the order: %w", err)
	}
	return e.Elsewhere(ctx, &src.Info, text, src.Module, func(r io.Reader) error {
		module, err := readMetered(r)
		if err != nil {
			return err
		}
		in := &incoming{from: r, dir: e.CacheDir, room: func(size uint64) error { return e.room(p, size, module) }}
		if _, err := io.ReadFull(r, in.key[:]); errors.Is(err, io.EOF) { // it is interpreted here
			return e.code(ctx, p, module, nil)
		} else if err != nil {
			return err
		}
		return e.load(ctx, p, module, in)
	})
}

// room returns an error if there is no memory for so many bytes of code of a metered module, and
// two of its instances.
func (e *Engine) room(p *Policy, size uint64, module []byte) error {
	if e.Memory == 0 {
		return nil
	}
	return e.book.check(p, size, uint64(meter.MostPages(module))*pageSize, e.Memory)
}

// load loads the code of a module: from the cache folder if it is there and can be read, and
// otherwise from the process that compiles it.
func (e *Engine) load(ctx context.Context, p *Policy, module []byte, in *incoming) error {
	defer func() { in.from, in.room = nil, nil }() // the runtime keeps in
	if in.dir != "" {
		e.tidying.Do(func() { removeAbandoned(in.folder()) })
		if found, err := in.reuse(); err != nil {
			return err
		} else if found {
			if err := e.loadFrom(ctx, p, module, in); err == nil || ctx.Err() != nil {
				return err
			}
			if err := in.discard(); err != nil {
				return err
			}
			if p.runtime != nil {
				p.runtime.Close(ctx) //nolint:errcheck // nothing runs in it
			}
		}
	}
	if err := in.open(); err != nil {
		return err
	}
	return e.loadFrom(ctx, p, module, in)
}

// loadFrom loads the code that in has opened, and closes it.
func (e *Engine) loadFrom(ctx context.Context, p *Policy, module []byte, in *incoming) (err error) {
	defer func() { err = errors.Join(err, in.close(err == nil)) }()
	cache, err := cacheOf(in)
	if err != nil {
		return err
	}
	p.native = in.size
	return e.code(ctx, p, module, cache)
}

func readMetered(r io.Reader) ([]byte, error) {
	size, err := readSize(r)
	if err != nil {
		return nil, err
	}
	if size > maxMetered {
		return nil, fmt.Errorf("module: %d bytes when it is metered, at most %d are allowed", size, maxMetered)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("read the metered module: %w", err)
	}
	return b, nil
}

func readSize(r io.Reader) (uint64, error) {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, fmt.Errorf("read from the process that compiles: %w", err)
	}
	return uint64(binary.LittleEndian.Uint32(b[:])), nil
}

// incoming hands the code of one module to the engine, and no other's. The code goes from
// the pipe to where it is executed, and to a file of the cache folder, if there is one.
type incoming struct {
	from io.Reader
	dir  string
	// room is asked whether there is memory for so many bytes of code.
	room func(size uint64) error

	key  key
	size uint64
	// file is the cache's, which is read if kept and written otherwise; nil without a cache.
	file *os.File
	kept bool
}

var (
	errMissing = errors.New("the engine asked for the code of another module than was compiled")
	errStale   = errors.New("code of another version of the engine")
)

// reuse opens the file of the cache, if there is one.
func (i *incoming) reuse() (found bool, err error) {
	f, err := os.Open(i.path())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open the cache of compiled modules: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		err = fmt.Errorf("read the cache of compiled modules: %w", err)
	} else if info.Size() > maxNative { // it was not written by load
		return false, errors.Join(f.Close(), i.discard())
	} else {
		err = i.accept(uint64(info.Size()))
	}
	if err != nil {
		return false, errors.Join(err, f.Close())
	}
	i.file, i.kept = f, true
	return true, nil
}

// discard removes the file of the cache.
func (i *incoming) discard() error {
	i.file, i.kept = nil, false
	if err := os.Remove(i.path()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove from the cache of compiled modules: %w", err)
	}
	return nil
}

// open waits until the code can be read from the pipe.
func (i *incoming) open() error {
	size, err := readSize(i.from)
	if err != nil {
		return err
	}
	if err := i.accept(size); err != nil || i.dir == "" {
		return err
	}
	if err := os.MkdirAll(i.folder(), 0o700); err != nil {
		return fmt.Errorf("make the cache of compiled modules: %w", err)
	}
	if i.file, err = os.CreateTemp(i.folder(), "*"+unfinished); err != nil {
		return fmt.Errorf("write to the cache of compiled modules: %w", err)
	}
	return nil
}

func (i *incoming) accept(size uint64) error {
	if size > maxNative {
		return fmt.Errorf("module: %d bytes of compiled code, at most %d are allowed", size, maxNative)
	}
	i.size = size
	return i.room(size)
}

func (i *incoming) folder() string { return filepath.Join(i.dir, "compiled") }

func (i *incoming) path() string { return filepath.Join(i.folder(), hex.EncodeToString(i.key[:])) }

// close ends the use of the cache's file. What was written to that stays if all went well, and so
// does what was read.
func (i *incoming) close(good bool) error { //nolint:revive // an outcome, not a mode
	switch {
	case i.file == nil:
		return nil
	case i.kept:
		return i.file.Close() //nolint:wrapcheck // it was only read
	}
	err := errors.Join(i.file.Sync(), i.file.Close())
	if good && err == nil {
		err = os.Rename(i.file.Name(), i.path())
	}
	if !good || err != nil {
		err = errors.Join(err, os.Remove(i.file.Name()))
	}
	if err != nil {
		return fmt.Errorf("write to the cache of compiled modules: %w", err)
	}
	return nil
}

// Get implements entries.
func (i *incoming) Get(k key) (io.ReadCloser, bool, error) {
	switch {
	case k != i.key:
		return nil, false, errMissing
	case i.kept:
		return io.NopCloser(i.file), true, nil
	}
	code := io.LimitReader(i.from, int64(i.size))
	if i.file != nil {
		code = io.TeeReader(code, i.file)
	}
	return io.NopCloser(code), true, nil
}

// Add implements entries. The engine calls it if it has compiled a module itself.
func (i *incoming) Add(key, io.Reader) error { return errMissing }

// Delete implements entries. The engine calls it for code of another version of itself, and
// would compile the module itself without an error.
func (i *incoming) Delete(key) error { return errStale }

// unfinished ends the names of files that are being written. The process may end before they
// are renamed; they are abandoned when nobody has written to them for as long.
const (
	unfinished   = ".tmp"
	abandonedFor = 10 * time.Minute
)

// removeAbandoned removes files that were not finished.
func removeAbandoned(folder string) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return // there is none yet, or what opens it says so
	}
	for _, f := range files {
		info, err := f.Info()
		if err == nil && strings.HasSuffix(f.Name(), unfinished) && time.Since(info.ModTime()) > abandonedFor { //nolint:forbidigo // the file system's clock
			os.Remove(filepath.Join(folder, f.Name())) //nolint:errcheck // it only takes space
		}
	}
}
