package wasm

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/policy"
	"spokeshave.dev/controller/policy/wasm/meter"
	"spokeshave.dev/controller/policy/wire"
	"spokeshave.dev/sdk/abi"
)

// goGuest builds the example policy in Go with the standard toolchain.
func goGuest(t testing.TB) []byte {
	t.Helper()
	return buildGo(t, example)
}

func buildGo(t testing.TB, dir string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "module.wasm")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", dir, err, text)
	}
	module, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

const example = "../../../examples/wasm-rank-go"

func TestGoGuest(t *testing.T) {
	src := source(goGuest(t))
	src.Config = []byte(`{"avoid": ["m7i", "c7g"], "factor": 4}`)
	p := compile(t, src)
	in := input(1000)
	for range 3 {
		got, err := p.Rank(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range in.Rows {
			want, why := row.Cost, ""
			if row.Family == "m7i" || row.Family == "c7g" {
				want, why = 4*row.Cost, "family to avoid: cost counted 4 times"
			}
			if got[i].Score != want || got[i].Reason != why {
				t.Fatalf("row %d (%s): %+v, want %v", i, row.InstanceType, got[i], want)
			}
		}
	}
	t.Logf("%d bytes, at most %d fuel for %d rows", len(src.Module), p.Stats().FuelHigh, len(in.Rows))

	for config, want := range map[string]string{
		`{"avoid": ["m7i"], "faktor": 2}`: "config.faktor: unknown key",
		`{}`:                              "name at least one",
		`{"avoid": "m7i"}`:                "config.avoid: not a list",
	} {
		src.Config = []byte(config)
		if _, err := (&Engine{}).Compile(t.Context(), src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
	src.Config = []byte(`{"avoid": ["m7i"]}`)
	src.Info.Hooks = append(src.Info.Hooks, policy.HookConsolidate)
	if _, err := (&Engine{}).Compile(t.Context(), src); err == nil || !strings.Contains(err.Error(), "does not register") {
		t.Errorf("a hook that the guest does not register: %v", err)
	}
}

// TestMeteredGoGuest: the metered guest leaves the same bytes as the guest as
// it was built.
func TestMeteredGoGuest(t *testing.T) {
	src := source(goGuest(t))
	src.Config = []byte(`{"avoid": ["m7i"]}`)
	metered, err := meter.Rewrite(src.Module, meter.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	plain, same := reply(t, src, src.Module), reply(t, src, metered.Bytes)
	if !bytes.Equal(plain, same) {
		t.Errorf("%d and %d bytes differ", len(plain), len(same))
	}
	batch := batch(t, 500)
	if bytes.Equal(plain, batch) {
		t.Error("the guest has not touched the batch")
	}
}

// batch is a question about n rows.
func batch(t *testing.T, n int) []byte {
	t.Helper()
	var e wire.Encoder
	size, err := e.Rank(input(n))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, size)
	e.Put(b)
	return b
}

// reply runs a module on one batch and gives what it leaves behind.
func reply(t *testing.T, src *policy.Source, module []byte) []byte {
	t.Helper()
	ctx := &call{Context: t.Context(), left: 1 << 40, clock: setupMoment().nanos}
	r := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = r.Close(context.WithoutCancel(ctx)) })
	if err := provide(ctx, r); err != nil {
		t.Fatal(err)
	}
	mod, err := r.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		t.Fatal(err)
	}
	must := func(name string, args ...uint64) uint64 {
		out, err := mod.ExportedFunction(name).Call(ctx, args...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return append(out, 0)[0]
	}
	send := func(b []byte) uint64 {
		ptr := must(abi.ExportAlloc, uint64(len(b)))
		if !mod.Memory().Write(uint32(ptr), b) {
			t.Fatal("no room")
		}
		return ptr
	}
	must(abi.ExportInitialize)
	block, _ := setupBlock(src.Info.Hooks, src.Config)
	if status := must(abi.ExportConfigure, send(block), uint64(len(block))); status != 0 {
		t.Fatalf("configure: status %d", status)
	}
	batch := batch(t, 500)
	ptr := send(batch)
	if status := must(abi.ExportRank, ptr, uint64(len(batch))); status != 0 {
		t.Fatalf("rank: status %d", status)
	}
	out, ok := mod.Memory().Read(uint32(ptr), uint32(len(batch)))
	if !ok {
		t.Fatal("the batch is gone")
	}
	return bytes.Clone(out)
}

// BenchmarkCompile is what it costs to take a policy live.
func BenchmarkCompile(b *testing.B) {
	src := source(goGuest(b))
	src.Config = []byte(`{"avoid": ["m7i"]}`)
	for b.Loop() {
		p, err := (&Engine{}).Compile(b.Context(), src)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRank ranks 1,000 offerings with one policy in every language, in
// place and out of it: x-native is the ratio to Go without WebAssembly.
func BenchmarkRank(b *testing.B) {
	in := input(1000)
	native := 0.0
	b.Run("native", func(b *testing.B) {
		scores := make([]float64, len(in.Rows))
		for b.Loop() {
			for i := range in.Rows {
				scores[i] = price(&in.Rows[i])
			}
		}
		native = float64(b.Elapsed()) / float64(b.N)
	})
	for _, language := range []string{"none", "c", "rust", "assemblyscript", "go"} {
		b.Run("guest="+language, func(b *testing.B) {
			src := source(benchGuest(b, language))
			if language != "none" {
				src.Config = []byte(`{"plain": true}`)
			}
			p := compile(b, src)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				answers, err := p.Rank(ctx, in)
				if err != nil {
					b.Fatal(err)
				}
				in.Reuse = answers
			}
			b.ReportMetric(float64(p.Stats().FuelHigh)/float64(len(in.Rows)), "fuel/row")
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/native, "x-native")
		})
	}
}

// benchGuest is the policy of test/guests in a language.
func benchGuest(b *testing.B, language string) []byte {
	b.Helper()
	switch language {
	case "none":
		return guest{}.bytes()
	case "go":
		return buildGo(b, "../../../test/guests/go")
	}
	module, err := os.ReadFile(filepath.Join("../../../test/guests", language, "module.wasm"))
	if err != nil {
		b.Fatal(err)
	}
	return module
}

// price is what the guests reckon.
func price(o *policy.RankRow) float64 {
	pods := float64(max(o.PodsFit, 1))
	eff := o.Cost / pods
	if o.CapacityType == model.Spot {
		eff *= 1 + 1.5*o.Interruption
	}
	cpu, memory := max(0, (o.VCPU-pods*0.5)/o.VCPU), max(0, (o.MemoryGiB-pods*2)/o.MemoryGiB)
	eff *= 1 + 0.5*cpu + 0.5*memory
	if o.GPUs > 0 {
		eff *= 4
	}
	return eff
}
