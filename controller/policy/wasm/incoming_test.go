package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
)

// written is what Work writes for a module, in three parts.
type written struct{ module, key, code []byte }

func (w written) all() []byte { return bytes.Join([][]byte{w.module, w.key, w.code}, nil) }

func work(t *testing.T, module []byte) written {
	t.Helper()
	src := source(module)
	bounds, err := lower(src.Limits)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(order{Limits: bounds.module, Hooks: src.Info.Hooks})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Work(t.Context(), text, module, &out); err != nil {
		t.Fatal(err)
	}
	b := out.Bytes()
	size, err := readSize(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	at := 4 + int(size)
	return written{b[:at], b[at : at+32], b[at+32:]}
}

// told returns an engine to which another process says this, whatever it is asked.
func told(said []byte) *Engine {
	return &Engine{Elsewhere: func(_ context.Context, _ *policy.Info, _, _ []byte, take func(io.Reader) error) error {
		return take(bytes.NewReader(said))
	}}
}

// TestIncoming: what comes from the process that compiles is used for the module that it
// belongs to, and only when it is whole.
func TestIncoming(t *testing.T) {
	one, other := work(t, seven().bytes()), work(t, guest{}.bytes())
	for name, tc := range map[string]struct {
		reason string
		said   []byte
		want   string // in the error, "" for none
	}{
		"whole":                {"as it should be", one.all(), ""},
		"interpreted":          {"no code, where the engine makes none", one.module, ""},
		"code of another":      {"its key is not that of the module", written{one.module, other.key, other.code}.all(), errMissing.Error()},
		"no code":              {"the process has ended before", written{one.module, one.key, nil}.all(), "EOF"},
		"half of the key":      {"the process has ended before", written{one.module, one.key[:16], nil}.all(), "EOF"},
		"half of the module":   {"the process has ended before", one.module[:40], "EOF"},
		"half of the code":     {"the process has ended before", written{one.module, one.key, one.code[:len(one.code)/2]}.all(), "EOF"},
		"too large a module":   {"more than metering can make of one", []byte("\xff\xff\xff\xff"), "when it is metered"},
		"too much code":        {"it would be mapped before it is read", written{one.module, one.key, []byte("\xff\xff\xff\xff")}.all(), "compiled code"},
		"code with a bit lost": {"it has a checksum", written{one.module, one.key, flipped(one.code)}.all(), "checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := told(tc.said).compile(t.Context(), source(seven().bytes()))
			if tc.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close(t.Context()) //nolint:errcheck // the end of a test
				if got, err := p.Rank(t.Context(), input(1)); err != nil || got[0].Score != 7 {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// flipped changes a bit in the middle of the code, behind the offsets of the functions.
func flipped(code []byte) []byte {
	out := bytes.Clone(code)
	out[len(out)/2] ^= 1
	return out
}

// TestCacheElsewhere: code that is in the folder is not taken from the process again, and
// what is not whole is not kept.
func TestCacheElsewhere(t *testing.T) {
	one := work(t, seven().bytes())
	dir := t.TempDir()
	load := func(said []byte) error {
		e := told(said)
		e.CacheDir = dir
		p, err := e.compile(t.Context(), source(seven().bytes()))
		if err != nil {
			return err
		}
		_, err = p.Rank(t.Context(), input(1))
		return errors.Join(err, p.Close(t.Context()))
	}
	files := func() []string {
		all, err := filepath.Glob(filepath.Join(dir, "compiled", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if err := load(written{one.module, one.key, one.code[:len(one.code)/2]}.all()); err == nil || len(files()) > 0 {
		t.Errorf("half of the code: %v, and kept %v", err, files())
	}
	if err := load(one.all()); err != nil || len(files()) != 1 {
		t.Fatalf("%v, kept %v", err, files())
	}
	if err := load(written{one.module, one.key, nil}.all()); err != nil {
		t.Errorf("from the folder: %v", err)
	}
	code, err := os.ReadFile(files()[0])
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(code)
	other[len("WAZEVO")+1] ^= 1 // the version of the engine
	for reason, text := range map[string][]byte{
		"code of another version": other, "a file that was cut short": code[:len(code)/2], "an empty file": nil, "too large a file": make([]byte, maxNative+1),
	} {
		if err := os.WriteFile(files()[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := load(one.all()); err != nil {
			t.Fatalf("%s counts as none: %v", reason, err)
		}
		if now, err := os.ReadFile(files()[0]); err != nil || len(files()) != 1 || !bytes.Equal(now, code) {
			t.Errorf("%s is not replaced: %v, kept %v", reason, err, files())
		}
	}
}

// TestAbandoned: files that an engine before did not finish are removed, unless they may be
// written still.
func TestAbandoned(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "compiled")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file := func(name string, age time.Duration) string {
		path, at := filepath.Join(folder, name), time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, []byte("half"), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	gone := file("123.tmp", time.Hour)
	stay := []string{file("456.tmp", time.Second), file(strings.Repeat("ab", 32), time.Hour)}
	e := told(work(t, seven().bytes()).all())
	e.CacheDir = dir
	p, err := e.compile(t.Context(), source(seven().bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context()) //nolint:errcheck // the end of a test
	if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v, want that it is removed", gone, err)
	}
	for _, path := range stay {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v, want that it stays", path, err)
		}
	}
}

// TestCodeIsBooked: compiled code counts as memory of its policy.
func TestCodeIsBooked(t *testing.T) {
	module := repeat(600, "\x41\x00\x41\x00\x41\x00\xfc\x0b\x00")
	module.memory = []byte("\x01\x02\x02") // pages
	e := told(work(t, module.bytes()).all())
	load := func(memory uint64) (size uint64, err error) {
		e.Memory = memory
		p, err := e.compile(t.Context(), source(module.bytes()))
		if err != nil {
			return 0, err
		}
		return p.native, p.Close(t.Context())
	}
	size, err := load(0)
	if err != nil || size == 0 {
		t.Fatal(size, err)
	}
	if _, err := load(size + 4*pageSize - 1); err == nil || !strings.Contains(err.Error(), "its code and two instances") || !strings.Contains(err.Error(), "not fit alone") {
		t.Errorf("%v, want that there is no room for the code and two instances", err)
	}
	if _, err := load(size + 4*pageSize); err != nil {
		t.Error(err)
	}
}
