package meter

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// FuzzSameResults: a generated module and its metered form give the same
// results and traps, call for call, and leave the same globals and memory.
func FuzzSameResults(f *testing.F) {
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 1))
		entropy := make([]byte, 100+random.IntN(1500))
		for i := range entropy {
			entropy[i] = byte(random.Uint32())
		}
		f.Add(entropy)
	}
	f.Fuzz(func(t *testing.T, entropy []byte) {
		if len(entropy) > 1<<14 {
			return
		}
		compare(t, generate(entropy))
	})
}

// TestGenerated says what the generated modules are worth: most calls must
// come to a result, and the others to traps of many kinds.
func TestGenerated(t *testing.T) {
	outcomes := map[string]int{}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		entropy := make([]byte, 800)
		for i := range entropy {
			entropy[i] = byte(random.Uint32())
		}
		for outcome, n := range compare(t, generate(entropy)) {
			outcomes[outcome] += n
		}
	}
	t.Logf("%v", outcomes)
	if outcomes[""] < 100 || len(outcomes) < 5 {
		t.Errorf("the modules do too little: %v", outcomes)
	}
}

// compare runs both forms of a module and counts the outcomes: traps, and ""
// for results.
func compare(t *testing.T, module []byte) map[string]int {
	t.Helper()
	limits := Defaults()
	limits.Depth = 1 << 20
	limits.Pressure, limits.Total = 4*limits.Pressure, 4*limits.Total // how long it takes to compile is not the question here
	m, err := Rewrite(module, limits)
	if err != nil {
		t.Fatalf("a generated module is refused: %v", err)
	}
	ctx := t.Context()
	plain, metered := newRuntime(t), newRuntime(t)
	defer func() { _, _ = plain.Close(ctx), metered.Close(ctx) }()
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	a, err := plain.InstantiateWithConfig(ctx, module, config)
	if err != nil {
		t.Fatalf("a generated module is not valid: %v", err)
	}
	b, err := metered.InstantiateWithConfig(ctx, m.Bytes, config)
	if err != nil {
		t.Fatalf("metered, it is not valid: %v", err)
	}
	outcomes := map[string]int{}
	for round := range 3 {
		for i := range len(a.ExportedFunctionDefinitions()) {
			name := fmt.Sprintf("f%d", i)
			args := someArguments(a.ExportedFunction(name).Definition().ParamTypes(), round)
			setSteps(a, 1000)
			setSteps(b, 1000)
			want, wantErr := invoke(ctx, a, name, args)
			got, gotErr := invoke(ctx, b, name, args)
			if wantErr != gotErr || !slices.Equal(want, got) {
				t.Fatalf("%s%v: plain %v %s, metered %v %s", name, args, want, wantErr, got, gotErr)
			}
			outcomes[wantErr]++
			sameState(t, a, b)
		}
	}
	return outcomes
}

func someArguments(types []api.ValueType, round int) []uint64 {
	var out []uint64
	for _, typ := range types {
		switch typ {
		case api.ValueTypeF32:
			out = append(out, api.EncodeF32(float32(round)+0.5))
		case api.ValueTypeF64:
			out = append(out, api.EncodeF64(float64(round)-2.5))
		default:
			out = append(out, []uint64{0, 70_000, 0xffffffff}[round])
		}
	}
	return out
}

func setSteps(m api.Module, n uint64) {
	if g, ok := m.ExportedGlobal("g0").(api.MutableGlobal); ok {
		g.Set(n)
	}
}

func sameState(t *testing.T, a, b api.Module) {
	t.Helper()
	for i := range 5 {
		name := fmt.Sprintf("g%d", i)
		if x, y := a.ExportedGlobal(name).Get(), b.ExportedGlobal(name).Get(); x != y {
			t.Fatalf("global %s: plain %#x, metered %#x", name, x, y)
		}
	}
	if x, y := a.Memory().Size(), b.Memory().Size(); x != y {
		t.Fatalf("memory: plain %d bytes, metered %d", x, y)
	}
	x, _ := a.Memory().Read(0, a.Memory().Size())
	y, _ := b.Memory().Read(0, b.Memory().Size())
	if !bytes.Equal(x, y) {
		t.Fatal("memories differ")
	}
}
