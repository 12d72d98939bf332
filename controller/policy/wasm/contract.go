package wasm

import (
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wasm/meter"
	"spokeshave.dev/sdk/abi"
)

// Modules that a policy may import functions from.
const (
	wasiModule  = "wasi_snapshot_preview1"
	abortModule = "env"
	abortName   = "abort"
)

func hookExport(h policy.Hook) (string, abi.Hook) {
	switch h {
	case policy.HookRank:
		return abi.ExportRank, abi.HookRank
	case policy.HookConsolidate:
		return abi.ExportConsolidate, abi.HookConsolidate
	case policy.HookCeiling:
		return abi.ExportCeiling, abi.HookCeiling
	}
	return "", 0
}

// check compares a module's imports and exports with the contract, by name and type,
// before any of its code runs.
func check(m *meter.Module, hooks []policy.Hook) error {
	allowed := imports()
	for _, i := range m.Imports {
		full := i.Module + "." + i.Name
		want, ok := allowed[full]
		if !ok {
			return fmt.Errorf("imports %s: not available to policies", full)
		}
		if i.Type != want {
			return fmt.Errorf("imports %s as %s: it is %s", full, show(i.Type), show(want))
		}
	}
	exports := map[string]meter.Export{}
	for _, e := range m.Exports {
		exports[e.Name] = e
	}
	if _, ok := exports[abi.ExportStart]; ok {
		return fmt.Errorf("exports %s: build a library, not a command (Go: -buildmode=c-shared)", abi.ExportStart)
	}
	if e, ok := exports[abi.ExportMemory]; !ok || e.Kind != meter.KindMemory {
		return fmt.Errorf("exports no memory named %q", abi.ExportMemory)
	}
	call := meter.Signature{Params: meter.I32 + meter.I32, Results: meter.I32}
	type entry struct {
		name string
		want meter.Signature
		must bool
	}
	entries := []entry{
		{abi.ExportVersion, meter.Signature{Results: meter.I32}, true},
		{abi.ExportAlloc, meter.Signature{Params: meter.I32, Results: meter.I32}, true},
		{abi.ExportInitialize, meter.Signature{}, false},
		{abi.ExportConfigure, call, false},
	}
	for _, h := range []policy.Hook{policy.HookRank, policy.HookConsolidate, policy.HookCeiling} {
		name, _ := hookExport(h)
		entries = append(entries, entry{name, call, slices.Contains(hooks, h)})
	}
	for _, want := range entries {
		e, ok := exports[want.name]
		switch {
		case !ok && want.must:
			return fmt.Errorf("exports no function %s%s", want.name, show(want.want))
		case ok && (e.Kind != meter.KindFunc || e.Type != want.want):
			return fmt.Errorf("exports %s as %s: it must be %s", want.name, show(e.Type), show(want.want))
		}
	}
	return nil
}

// imports returns the functions that a module may import.
func imports() map[string]meter.Signature {
	out := map[string]meter.Signature{
		abi.ImportModule + "." + abi.ImportLog: {Params: params(3)},
		abortModule + "." + abortName:          {Params: params(4)},
	}
	for _, f := range wasi() {
		out[wasiModule+"."+f.name] = f.signature
	}
	return out
}

func params(n int) string { return strings.Repeat(meter.I32, n) }

// show formats a function type as in the text format.
func show(s meter.Signature) string {
	names := func(types string) string {
		out := make([]string, 0, len(types))
		for _, t := range []byte(types) {
			switch t {
			case meter.I32[0]:
				out = append(out, "i32")
			case meter.I64[0]:
				out = append(out, "i64")
			case 0x7d:
				out = append(out, "f32")
			case 0x7c:
				out = append(out, "f64")
			default:
				out = append(out, fmt.Sprintf("%#x", t))
			}
		}
		return "(" + strings.Join(out, " ") + ")"
	}
	return names(s.Params) + " -> " + names(s.Results)
}
