package meter

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// TestSpecification rewrites every module of the WebAssembly core tests, which
// ship with wazero: what compiled before must compile afterwards, what did not
// must not, and only features off the list may be refused.
func TestSpecification(t *testing.T) {
	pattern := filepath.Join(specDir(t), "v*", "testdata", "*.wasm")
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < 500 {
		t.Fatalf("%d modules at %s, %v", len(files), pattern, err)
	}
	limits := Defaults()
	limits.Table, limits.Pages = 1<<27, 1<<16
	limits.Total, limits.Pressure, limits.Slots = 1<<30, 1<<30, 1<<30
	limits.Signature = 1 << 20
	runtime := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { _ = runtime.Close(context.WithoutCancel(t.Context())) })
	refused := map[string]int{}
	same := 0
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before := compile(t.Context(), runtime, in)
		m, err := Rewrite(in, limits)
		if err != nil {
			if before == nil {
				refused[refusal(err)]++
				if !expected(err) {
					t.Errorf("%s compiles, but: %v", filepath.Base(file), err)
				}
			}
			continue
		}
		after := compile(t.Context(), runtime, m.Bytes)
		if before != nil && repaired(before) {
			continue
		}
		if (before == nil) != (after == nil) {
			t.Errorf("%s: before %v, after %v", filepath.Base(file), before, after)
			continue
		}
		same++
	}
	t.Logf("%d modules, %d alike before and after, refused: %v", len(files), same, refused)
	if same < len(files)/2 {
		t.Errorf("only %d of %d modules were compared", same, len(files))
	}
}

// specDir is where wazero keeps the core tests.
func specDir(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest")
}

func compile(ctx context.Context, runtime wazero.Runtime, in []byte) error {
	m, err := runtime.CompileModule(ctx, in)
	if err == nil {
		err = m.Close(ctx)
	}
	return err
}

// repaired: the rewriting drops custom sections and lowers a memory's maximum,
// so that what was wrong with them is gone.
func repaired(before error) bool {
	return strings.Contains(before.Error(), "custom section") || strings.Contains(before.Error(), "section custom") ||
		strings.HasPrefix(before.Error(), "section memory: max")
}

func expected(err error) bool {
	return strings.Contains(err.Error(), "only functions can be imported")
}

func refusal(err error) string {
	s := err.Error()
	return s[max(0, strings.LastIndexByte(s, ':')):]
}

// FuzzRewrite: whatever the bytes, Rewrite neither panics nor hangs, and what
// it makes is a function of its input.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte("\x00asm\x01\x00\x00\x00"))
	f.Add(loopModule())
	f.Fuzz(func(t *testing.T, in []byte) {
		a, err := Rewrite(in, Defaults())
		b, again := Rewrite(in, Defaults())
		if (err == nil) != (again == nil) {
			t.Fatal(err, again)
		}
		if err == nil && !bytes.Equal(a.Bytes, b.Bytes) {
			t.Fatal("not deterministic")
		}
	})
}

// loopModule has a function that loops as often as its parameter says.
func loopModule() []byte {
	return []byte("\x00asm\x01\x00\x00\x00" +
		"\x01\x05\x01\x60\x01\x7f\x00" + // type (i32) -> ()
		"\x03\x02\x01\x00" +
		"\x07\x08\x01\x04loop\x00\x00" +
		"\x0a\x10\x01\x0e\x00\x03\x40\x20\x00\x41\x01\x6b\x22\x00\x0d\x00\x0b\x0b")
}

func TestLoop(t *testing.T) {
	m, err := Rewrite(loopModule(), Defaults())
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	runtime := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = runtime.Close(context.WithoutCancel(ctx)) })
	calls, stop := 0, uint64(0)
	_, err = runtime.NewHostModuleBuilder(SafepointModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, mod api.Module, stack []uint64) {
			calls++
			fuel := mod.ExportedGlobal(FuelExport).(api.MutableGlobal)
			fuel.Set(fuel.Get() + 1000)
			stack[0] = stop
		}), nil, []api.ValueType{api.ValueTypeI32}).Export(SafepointName).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := runtime.Instantiate(ctx, m.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.ExportedFunction("loop").Call(ctx, 10_000); err != nil {
		t.Fatal(err)
	}
	// A turn of the loop has five instructions.
	if calls < 50 || calls > 51 {
		t.Errorf("%d safepoints for 50,000 instructions at 1,000 each", calls)
	}
	stop = 1
	if _, err := mod.ExportedFunction("loop").Call(ctx, 10_000); err == nil {
		t.Error("the safepoint did not stop the loop")
	}
}
