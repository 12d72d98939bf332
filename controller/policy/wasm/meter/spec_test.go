package meter

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// script is a file of the core tests: modules, and calls into the last one.
type script struct {
	Commands []struct {
		Type     string `json:"type"`
		Line     int    `json:"line"`
		Filename string `json:"filename"`
		Action   struct {
			Type   string  `json:"type"`
			Module string  `json:"module"`
			Field  string  `json:"field"`
			Args   []value `json:"args"`
		} `json:"action"`
	} `json:"commands"`
}

type value struct {
	Type  string          `json:"type"`
	Lanes string          `json:"lane_type"`
	Value json.RawMessage `json:"value"`
}

// bits are the machine words of an argument; ok is false for a kind of
// argument that is left out (references).
func (v value) bits() (words []uint64, ok bool) {
	if v.Type == "v128" {
		var lanes []string
		if json.Unmarshal(v.Value, &lanes) != nil || len(lanes) == 0 {
			return nil, false
		}
		var b []byte
		for _, lane := range lanes {
			n, ok := word(v.Lanes, lane)
			if !ok {
				return nil, false
			}
			b = append(b, binary.LittleEndian.AppendUint64(nil, n)[:16/len(lanes)]...)
		}
		return []uint64{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}, true
	}
	var s string
	if json.Unmarshal(v.Value, &s) != nil {
		return nil, false
	}
	n, ok := word(v.Type, s)
	return []uint64{n}, ok
}

func word(kind, s string) (uint64, bool) {
	nan := strings.HasPrefix(s, "nan")
	switch {
	case kind == "f32" && nan:
		return uint64(math.Float32bits(float32(math.NaN()))), true
	case kind == "f64" && nan:
		return math.Float64bits(math.NaN()), true
	case strings.HasSuffix(kind, "ref"):
		return 0, false
	}
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return n, true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return uint64(n), err == nil
}

// TestSameResults runs the calls of the WebAssembly core tests on every module
// twice, as it is and metered: results, traps and memory must agree.
func TestSameResults(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(specDir(t), "v2", "testdata", "*.json"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	ctx := t.Context()
	calls, modules := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s script
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		plain, metered := newRuntime(t), newRuntime(t)
		var a, b api.Module
		for _, c := range s.Commands {
			switch {
			case c.Type == "module":
				a, b = instantiate(t, plain, metered, filepath.Join(filepath.Dir(file), c.Filename))
				if a != nil {
					modules++
				}
			case a == nil || c.Action.Type != "invoke" || c.Action.Module != "":
			case c.Type == "assert_return" || c.Type == "assert_trap" || c.Type == "action":
				args, ok := arguments(c.Action.Args)
				if !ok {
					continue
				}
				calls++
				want, wantErr := invoke(ctx, a, c.Action.Field, args)
				got, gotErr := invoke(ctx, b, c.Action.Field, args)
				if wantErr != gotErr || !slices.Equal(want, got) {
					t.Errorf("%s:%d %s: plain %v %s, metered %v %s", filepath.Base(file), c.Line, c.Action.Field, want, wantErr, got, gotErr)
				}
			}
		}
	}
	t.Logf("%d calls into %d modules", calls, modules)
	if calls < 10_000 {
		t.Errorf("only %d calls were compared", calls)
	}
}

func newRuntime(t *testing.T) wazero.Runtime {
	t.Helper()
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(1<<10))
	t.Cleanup(func() { _ = r.Close(context.WithoutCancel(ctx)) })
	_, err := r.NewHostModuleBuilder(SafepointModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, mod api.Module, stack []uint64) {
			if fuel, ok := mod.ExportedGlobal(FuelExport).(api.MutableGlobal); ok {
				fuel.Set(1000)
			}
			stack[0] = 0
		}), nil, []api.ValueType{api.ValueTypeI32}).Export(SafepointName).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// instantiate gives both forms of a module, nil for one that cannot stand on
// its own.
func instantiate(t *testing.T, plain, metered wazero.Runtime, file string) (a, b api.Module) {
	t.Helper()
	in, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	limits := Defaults()
	limits.Pages, limits.Depth = 1<<10, 1<<20
	limits.Pressure, limits.Total = 1<<30, 1<<30
	m, err := Rewrite(in, limits)
	if err != nil || len(m.Imports) > 0 {
		return nil, nil
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	a, errA := plain.InstantiateWithConfig(t.Context(), in, config)
	b, errB := metered.InstantiateWithConfig(t.Context(), m.Bytes, config)
	if (errA == nil) != (errB == nil) {
		t.Errorf("%s: plain %v, metered %v", filepath.Base(file), errA, errB)
	}
	if errA != nil || errB != nil {
		return nil, nil
	}
	return a, b
}

func arguments(list []value) (args []uint64, ok bool) {
	for _, v := range list {
		words, ok := v.bits()
		if !ok {
			return nil, false
		}
		args = append(args, words...)
	}
	return args, true
}

// invoke gives the results, or the first line of the trap.
func invoke(ctx context.Context, m api.Module, name string, args []uint64) ([]uint64, string) {
	f := m.ExportedFunction(name)
	if f == nil {
		return nil, "no such function"
	}
	out, err := f.Call(ctx, args...)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, first
	}
	for i, typ := range f.Definition().ResultTypes() { // references are addresses
		if i < len(out) && (typ == api.ValueTypeExternref || typ == 0x70) {
			out[i] = min(out[i], 1)
		}
	}
	return out, ""
}
