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

	"spokeshave.dev/controller/core/policy"
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
		in := &incoming{from: r, dir: e.CacheDir, room: func(size uint64) error { return e.book.fits(p, size, e.Memory) }}
		if _, err := io.ReadFull(r, in.key[:]); errors.Is(err, io.EOF) { // it is interpreted here
			return e.code(ctx, p, module, nil)
		} else if err != nil {
			return err
		}
		return e.load(ctx, p, module, in)
	})
}

// load loads the code of a module: from the cache folder if it is there, and otherwise from
// the process that compiles it.
func (e *Engine) load(ctx context.Context, p *Policy, module []byte, in *incoming) (err error) {
	defer func() { err = errors.Join(err, in.close(err == nil)) }()
	if err := in.open(); err != nil {
		return err
	}
	cache, err := cacheOf(in)
	if err != nil {
		return err
	}
	if err := e.code(ctx, p, module, cache); err != nil {
		if in.kept {
			return &policy.Fault{Kind: policy.FaultDeadline, Message: "the cache of compiled modules holds code that cannot be read, which is removed: " + err.Error()}
		}
		return err
	}
	p.native = in.size
	return nil
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

var errMissing = errors.New("the engine asked for the code of another module than was compiled")

// open waits until the code can be read.
func (i *incoming) open() error {
	if i.dir != "" {
		f, err := os.Open(i.path())
		if err == nil {
			return i.reuse(f)
		}
		if !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("open the cache of compiled modules: %w", err)
		}
	}
	size, err := readSize(i.from)
	if err != nil {
		return err
	}
	if err := i.accept(size); err != nil || i.dir == "" {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(i.path()), 0o700); err != nil {
		return fmt.Errorf("make the cache of compiled modules: %w", err)
	}
	if i.file, err = os.CreateTemp(filepath.Dir(i.path()), "*.tmp"); err != nil {
		return fmt.Errorf("write to the cache of compiled modules: %w", err)
	}
	return nil
}

// reuse takes the code from a file of the cache.
func (i *incoming) reuse(f *os.File) error {
	i.file, i.kept = f, true
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read the cache of compiled modules: %w", err)
	}
	return i.accept(uint64(info.Size()))
}

func (i *incoming) accept(size uint64) error {
	if size > maxNative {
		return fmt.Errorf("module: %d bytes of compiled code, at most %d are allowed", size, maxNative)
	}
	i.size = size
	return i.room(size)
}

func (i *incoming) path() string {
	return filepath.Join(i.dir, "compiled", hex.EncodeToString(i.key[:]))
}

// close ends the use of the pipe, and of the cache's file. What was written to that stays if all went well, and so
// does what was read.
func (i *incoming) close(good bool) error { //nolint:revive // an outcome, not a mode
	defer func() { i.from, i.room = nil, nil }() // the runtime keeps this
	switch {
	case i.file == nil:
		return nil
	case i.kept && good:
		return i.file.Close() //nolint:wrapcheck // it was only read
	case i.kept:
		err := errors.Join(i.file.Close(), os.Remove(i.path()))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove from the cache of compiled modules: %w", err)
		}
		return nil
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

// Delete implements entries. The engine calls it for code of another version of itself, which is removed; the
// next attempt compiles.
func (i *incoming) Delete(key) error {
	return &policy.Fault{Kind: policy.FaultDeadline, Message: "code of another version of the engine"}
}
