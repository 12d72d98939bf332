package guests

import (
	"bytes"
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"spokeshave.dev/sdk/abi"
)

// machine is a guest that runs without a controller, as it was built.
type machine struct {
	ctx context.Context //nolint:containedctx // of the test
	mod api.Module
	log bytes.Buffer
}

func newMachine(t testing.TB, module []byte) *machine {
	t.Helper()
	ctx := t.Context()
	m := &machine{ctx: ctx}
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2))
	t.Cleanup(func() { _ = r.Close(context.WithoutCancel(ctx)) })
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	i32 := api.ValueTypeI32
	log := func(_ context.Context, mod api.Module, stack []uint64) {
		text, _ := mod.Memory().Read(uint32(stack[1]), uint32(stack[2]))
		m.log.Write(append(text, '\n'))
	}
	abort := func(context.Context, api.Module, []uint64) { t.Error("the guest has called abort") }
	for module, f := range map[string]struct {
		name string
		run  api.GoModuleFunc
		args int
	}{abi.ImportModule: {abi.ImportLog, log, 3}, "env": {"abort", abort, 4}} {
		b := r.NewHostModuleBuilder(module).NewFunctionBuilder()
		b = b.WithGoModuleFunction(f.run, bytes.Repeat([]byte{i32}, f.args), nil)
		if _, err := b.Export(f.name).Instantiate(ctx); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if m.mod, err = r.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithStartFunctions()); err != nil {
		t.Fatal(err)
	}
	if m.mod.ExportedFunction(abi.ExportInitialize) != nil {
		m.call(t, abi.ExportInitialize)
	}
	return m
}

func (m *machine) call(t testing.TB, name string, args ...uint64) uint64 {
	t.Helper()
	f := m.mod.ExportedFunction(name)
	if f == nil {
		t.Fatalf("the guest does not export %s", name)
	}
	out, err := f.Call(m.ctx, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return append(out, 0)[0]
}

// ask sends bytes to an export and gives its status and what it has left.
func (m *machine) ask(t testing.TB, name string, b []byte) reply {
	t.Helper()
	ptr := m.call(t, abi.ExportAlloc, uint64(len(b)))
	if ptr == 0 || ptr%abi.Align != 0 || !m.mod.Memory().Write(uint32(ptr), b) {
		t.Fatalf("no room for %d bytes: %#x", len(b), ptr)
	}
	status := m.call(t, name, ptr, uint64(len(b)))
	left, _ := m.mod.Memory().Read(uint32(ptr), uint32(len(b)))
	return reply{int32(status), bytes.Clone(left)}
}

// reply is what a guest answers.
type reply struct {
	status int32
	batch  []byte
}
