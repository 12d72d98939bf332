package meter

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// one is i32.const 1, drop: two units.
const one = "\x41\x01\x1a"

// TestFuel holds the rules of docs/spec/policy.md: who pays for what, and when.
func TestFuel(t *testing.T) {
	long := ""
	for range 20 {
		long += one
	}
	cases := map[string]struct {
		why   string
		first string // the body of the exported function, which takes an i32
		more  []string
		fuel  int64
	}{
		"straight":   {"an instruction is a unit", one + one, nil, 4},
		"branches":   {"both sides are paid for, and the if", "\x20\x00\x04\x40" + one + "\x05" + one + one + "\x0b", nil, 2 + 6},
		"loop":       {"each turn pays, 5 units, and the function none", "\x03\x40" + countDown + "\x0b", nil, 3 * 5},
		"led":        {"what leads to a loop is paid for with it", one + "\x03\x40" + countDown + "\x0b", nil, 3 * 7},
		"after":      {"an instruction that may leave comes before the loop", "\x41\x00\x0d\x00\x03\x40" + countDown + "\x0b", nil, 2 + 3*5},
		"nested":     {"a loop in a loop pays for itself", "\x03\x40\x03\x40" + one + "\x0b" + countDown + "\x0b", nil, 3 * (5 + 2)},
		"small":      {"callers pay for small functions", "\x10\x01\x10\x01", []string{one}, 2 * (4 + 2)},
		"small tree": {"and for what those call", "\x10\x01", []string{"\x10\x02" + one, one}, 4 + (4 + 2) + 2},
		"untaken":    {"also where they are not called", "\x20\x00\x45\x04\x40\x10\x01\x0b", []string{one}, 3 + 4 + 2},
		"large":      {"others pay when they are called", "\x20\x00\x45\x04\x40\x10\x01\x0b\x10\x01", []string{long}, 3 + 4 + 4 + 40},
		"return":     {"the fuel of a loop is kept when it is left by a return", "\x03\x40" + one + "\x0f\x0b", nil, 3},
		"branch out": {"and by a branch", "\x02\x40\x03\x40" + one + "\x0c\x01\x0b\x0b", nil, 3},
		"grow":       {"memory.grow", "\x41\x00\x40\x00\x1a", nil, 3 + growCost},
		"fill":       {"a unit for 16 bytes, and one", "\x41\x00\x41\x07\x41\xa0\x01\xfc\x0b\x00", nil, 4 + 10 + 1},
		"loop fill":  {"in a loop too", "\x03\x40\x41\x00\x41\x07\x41\xa0\x01\xfc\x0b\x00" + countDown + "\x0b", nil, 3 * (5 + 4 + 10 + 1)},
		"not small":  {"what calls a large function is not small", "\x03\x40\x10\x01" + countDown + "\x0b\x03\x40" + one + "\x0b", []string{"\x10\x02", long}, 3*(5+4+4+40) + 2},
		"loop calls": {"around a call", "\x03\x40\x10\x01" + countDown + "\x0b\x03\x40" + one + "\x0b", []string{long}, 3*(5+4+40) + 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, slice := range []int64{1 << 40, 1} { // one safepoint, or one for every charge
				if used := spent(t, tc.first, tc.more, slice); used != tc.fuel {
					t.Errorf("%s: %d units, want %d (slices of %d)", tc.why, used, tc.fuel, slice)
				}
			}
		})
	}
}

// countDown takes one from the parameter and turns the loop unless it is 0.
const countDown = "\x20\x00\x41\x01\x6b\x22\x00\x0d\x00"

// spent is the fuel of a call of the first function with 3. The slices are
// handed out as the host does.
func spent(t *testing.T, first string, more []string, slice int64) int64 {
	t.Helper()
	functions, code := [][]byte{{1}}, [][]byte{vector([]byte("\x00" + first + "\x0b"))}
	for _, body := range more {
		functions = append(functions, []byte{0})
		code = append(code, vector([]byte("\x00"+body+"\x0b")))
	}
	module := []byte("\x00asm\x01\x00\x00\x00\x01\x08\x02\x60\x00\x00\x60\x01\x7f\x00")
	for _, s := range []struct {
		id   byte
		body []byte
	}{{3, list(functions)}, {5, []byte{1, 0, 1}}, {7, []byte("\x01\x01f\x00\x00")}, {10, list(code)}} {
		module = cat(module, []byte{s.id}, vector(s.body))
	}
	m, err := Rewrite(module, Defaults())
	if err != nil {
		t.Fatal(err)
	}
	ctx, given := t.Context(), int64(0)
	runtime := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = runtime.Close(context.WithoutCancel(ctx)) })
	_, err = runtime.NewHostModuleBuilder(SafepointModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, mod api.Module, stack []uint64) {
			fuel := mod.ExportedGlobal(FuelExport).(api.MutableGlobal)
			for int64(fuel.Get()) < 0 {
				fuel.Set(fuel.Get() + uint64(slice))
				given += slice
			}
			stack[0] = 0
		}), nil, []api.ValueType{api.ValueTypeI32}).Export(SafepointName).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := runtime.Instantiate(ctx, m.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.ExportedFunction("f").Call(ctx, 3); err != nil {
		t.Fatal(err)
	}
	return given - int64(mod.ExportedGlobal(FuelExport).Get())
}
