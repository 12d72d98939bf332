package wasm

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wasm/meter"
)

// maxNative is the most bytes of a module's compiled code. A guest in Go of 2.2 MiB has 9.
const maxNative = 32 << 20

// order is what Work is told besides the module.
type order struct {
	Limits meter.Limits
	Hooks  []policy.Hook
}

// Work checks, meters and compiles a module, for an engine in another process. It writes the
// size of the metered module (4 bytes) and the module, and before it compiles this the key of
// its code; afterwards the size of the code (4 bytes) and the code. On platforms on which
// modules are interpreted it ends after the module.
func Work(ctx context.Context, text, module []byte, out io.Writer) error {
	var o order
	if err := json.Unmarshal(text, &o); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	metered, err := metered(module, o.Limits, o.Hooks)
	if err != nil {
		return err
	}
	if err := writeSized(out, metered.Bytes); err != nil {
		return err
	}
	to := &outgoing{out: out}
	cache, err := cacheOf(to)
	if err != nil {
		return err
	}
	_, _, err = compileModule(ctx, metered.Bytes, o.Limits.Pages, cache)
	if to.err != nil {
		return to.err
	}
	return err
}

// metered checks and meters a module.
func metered(module []byte, limits meter.Limits, hooks []policy.Hook) (*meter.Module, error) {
	m, err := meter.Rewrite(module, limits)
	if err == nil {
		err = check(m, hooks)
	}
	if err != nil {
		return nil, fmt.Errorf("module: %w", err)
	}
	return m, nil
}

func writeSized(out io.Writer, b []byte) error {
	if _, err := out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(b)))); err != nil {
		return err //nolint:wrapcheck // nobody reads it any more
	}
	_, err := out.Write(b)
	return err //nolint:wrapcheck // nobody reads it any more
}

// outgoing writes what the engine asks for and what it has compiled.
type outgoing struct {
	out io.Writer
	err error
}

// Get implements entries.
func (o *outgoing) Get(k key) (io.ReadCloser, bool, error) {
	_, o.err = o.out.Write(k[:])
	return nil, false, o.err
}

// Add implements entries.
func (o *outgoing) Add(_ key, content io.Reader) error {
	sized, ok := content.(interface{ Len() int })
	switch {
	case !ok:
		o.err = errors.New("the engine does not say how large the code is")
	case sized.Len() > maxNative:
		o.err = fmt.Errorf("module: compiled, its code takes %d MiB, at most %d are allowed: build it for size", sized.Len()>>20, maxNative>>20)
	default:
		if _, o.err = o.out.Write(binary.LittleEndian.AppendUint32(nil, uint32(sized.Len()))); o.err == nil {
			_, o.err = io.Copy(o.out, content)
		}
	}
	return o.err
}

// Delete implements entries.
func (o *outgoing) Delete(key) error { return nil }
