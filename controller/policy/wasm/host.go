package wasm

import (
	"context"
	"fmt"
	"unicode/utf16"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wasm/meter"
	"spokeshave.dev/sdk/abi"
)

// hostFunc is a function that guests may call. It never panics: the arguments come
// from the guest, so it accesses memory only with bounds checks.
type hostFunc struct {
	name      string
	signature meter.Signature
	run       api.GoModuleFunc
}

// provide instantiates the host's modules in a runtime.
func provide(ctx context.Context, r wazero.Runtime) error {
	i32 := meter.Signature{Results: meter.I32}
	modules := map[string][]hostFunc{
		meter.SafepointModule: {{meter.SafepointName, i32, safepoint}},
		abi.ImportModule:      {{abi.ImportLog, meter.Signature{Params: params(3)}, log}},
		abortModule:           {{abortName, meter.Signature{Params: params(4)}, abort}},
		wasiModule:            wasi(),
	}
	for name, functions := range modules {
		b := r.NewHostModuleBuilder(name)
		for _, f := range functions {
			b = b.NewFunctionBuilder().
				WithGoModuleFunction(f.run, []byte(f.signature.Params), []byte(f.signature.Results)).
				Export(f.name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("provide %s: %w", name, err)
		}
	}
	return nil
}

// log implements spokeshave_v1.log(level, ptr, len).
func log(ctx context.Context, mod api.Module, stack []uint64) {
	size := min(api.DecodeU32(stack[2]), maxLog)
	if text, ok := mod.Memory().Read(api.DecodeU32(stack[1]), size); ok {
		c := callOf(ctx)
		c.write(text)
		c.write([]byte{'\n'})
	}
}

// abort implements env.abort(message, file, line, column), which AssemblyScript
// calls for a failed assertion. Texts are UTF-16, preceded by their size in bytes.
func abort(ctx context.Context, mod api.Module, stack []uint64) {
	message := utf16At(mod.Memory(), api.DecodeU32(stack[0]))
	file := utf16At(mod.Memory(), api.DecodeU32(stack[1]))
	callOf(ctx).stop(policy.FaultTrap, fmt.Sprintf("abort: %s at %s:%d:%d",
		message, file, api.DecodeU32(stack[2]), api.DecodeU32(stack[3])))
}

func utf16At(mem api.Memory, ptr uint32) string {
	if mem == nil || ptr < 4 {
		return "?"
	}
	size, ok := mem.ReadUint32Le(ptr - 4)
	if !ok {
		return "?"
	}
	b, ok := mem.Read(ptr, min(size, 2*abi.MaxMessage)&^1)
	if !ok {
		return "?"
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
	}
	return string(utf16.Decode(units))
}
