package wasm

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"spokeshave.dev/controller/core/policy"
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
		for tries := 0; late(err) && tries < 20; tries++ { // others may have the processors for as long as an answer may take
			got, err = p.Rank(t.Context(), in)
		}
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

// late reports whether an answer did not come in time.
func late(err error) bool {
	f := (*policy.Fault)(nil)
	return errors.As(err, &f) && f.Kind == policy.FaultDeadline
}

// TestMeteredGoGuest: the metered guest leaves the same bytes as the guest as
// it was built.
func TestMeteredGoGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a large module, which is slow under the race detector")
	}
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

// TestGoGuestWithLibraries: a guest with encoding/json, fmt and regexp is well
// within the limits, and fifty values in each other within the call depth.
func TestGoGuestWithLibraries(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a large module, which is slow under the race detector")
	}
	const nested = 50
	limits := meter.Defaults()
	src := source(buildGo(t, "testdata/json"))
	metered, err := meter.Rewrite(src.Module, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes weigh %d, at most %d in a function", len(src.Module), metered.Total, metered.Pressure)
	if metered.Total > limits.Total*3/4 || metered.Pressure > limits.Pressure*3/4 {
		t.Errorf("weighs %d and %d, of %d and %d: there has to be room for more libraries", metered.Total, metered.Pressure, limits.Total, limits.Pressure)
	}
	m := start(t, src, metered.Bytes) // with fuel without end: what it takes is another matter
	batch := batch(t, nested)
	if status := m.must(abi.ExportRank, m.send(batch), uint64(len(batch))); status != uint64(abi.Answered) {
		t.Errorf("rank: status %d: it could not read %d values in each other", status, nested)
	}
}

// batch is a question about n rows.
func batch(t testing.TB, n int) []byte {
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
func reply(t testing.TB, src *policy.Source, module []byte) []byte {
	t.Helper()
	m := start(t, src, module)
	batch := batch(t, 500)
	ptr := m.send(batch)
	if status := m.must(abi.ExportRank, ptr, uint64(len(batch))); status != 0 {
		t.Fatalf("rank: status %d", status)
	}
	out, ok := m.mod.Memory().Read(uint32(ptr), uint32(len(batch)))
	if !ok {
		t.Fatal("the batch is gone")
	}
	return bytes.Clone(out)
}

// bare is a module, metered or not, without an instance's guards around it.
type bare struct {
	t   testing.TB
	ctx *call
	mod api.Module
}

// start makes a configured instance of a module.
func start(t testing.TB, src *policy.Source, module []byte) *bare {
	t.Helper()
	m := &bare{t: t, ctx: &call{Context: t.Context(), left: 1 << 50, clock: setupMoment().nanos}}
	r := wazero.NewRuntime(m.ctx)
	t.Cleanup(func() { _ = r.Close(context.WithoutCancel(m.ctx)) })
	if err := provide(m.ctx, r); err != nil {
		t.Fatal(err)
	}
	var err error
	if m.mod, err = r.InstantiateWithConfig(m.ctx, module, wazero.NewModuleConfig().WithName("").WithStartFunctions()); err != nil {
		t.Fatal(err)
	}
	if m.mod.ExportedFunction(abi.ExportInitialize) != nil {
		m.must(abi.ExportInitialize)
	}
	block, _ := setupBlock(src.Info.Hooks, src.Config)
	if status := m.must(abi.ExportConfigure, m.send(block), uint64(len(block))); status != 0 {
		t.Fatalf("configure: status %d", status)
	}
	return m
}

// must calls a function of the module.
func (m *bare) must(name string, args ...uint64) uint64 {
	m.t.Helper()
	out, err := m.mod.ExportedFunction(name).Call(m.ctx, args...)
	if err != nil {
		m.t.Fatalf("%s: %v", name, err)
	}
	return append(out, 0)[0]
}

// send gives the module a batch and says where it is.
func (m *bare) send(b []byte) uint64 {
	m.t.Helper()
	ptr := m.must(abi.ExportAlloc, uint64(len(b)))
	if !m.mod.Memory().Write(uint32(ptr), b) {
		m.t.Fatal("no room")
	}
	return ptr
}
