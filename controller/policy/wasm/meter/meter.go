// Package meter rewrites a WebAssembly module so that its work is counted and
// limited. Every function and every loop body deducts its cost from a fuel counter
// before it runs. When a slice of fuel is used up, the module calls the host's
// safepoint, which refills the counter or stops the module. Calls count against a
// depth limit. Fuel is deterministic: the same module and input use the same amount
// on every machine.
//
// The rewriter also limits the cost of compiling a module. It refuses every opcode
// that is not on its list, and modules whose compilation would take seconds or
// gigabytes.
//
// It never panics, whatever the input. It does not validate types, which the engine
// does when it compiles the result. It does ensure that a module cannot refer to
// what the rewriting adds.
//
// The safepoint is implemented by the host, in package controller/policy/wasm.
package meter

import (
	"errors"
	"fmt"
)

// Names that the rewriting adds to a module.
const (
	// SafepointModule and SafepointName name the imported function () -> i32 that
	// runs when a slice of fuel is used up. A result other than 0 stops the module.
	SafepointModule = "spokeshave_meter"
	SafepointName   = "safepoint"
	// FuelExport is the i64 global with the remaining fuel of the slice. DepthExport
	// is the i32 global with the call depth.
	FuelExport  = reserved + "fuel"
	DepthExport = reserved + "depth"

	reserved = "__spokeshave_"
)

// Limits are the limits on a module. A zero field means zero and not a default;
// start from Defaults.
type Limits struct {
	Module    int    // bytes of the module
	Entries   int    // types, globals, exports or element segments
	Imports   int    // imported functions
	Data      int    // data segments
	Values    int    // parameters and results of all function types together
	Body      int    // bytes of a function body
	Slots     int    // parameters, locals and operands of a function
	Pressure  int    // weight of a function for the compiler, about microseconds
	Total     int    // the same of all functions
	Signature int    // parameters or results of a function type
	Table     uint32 // elements of a table
	Pages     uint32 // 64 KiB pages of memory
	Depth     uint32 // frames; a large frame counts as several
}

// Defaults returns the limits in force unless a policy asks for lower ones.
func Defaults() Limits {
	return Limits{
		Module: 8 << 20, Entries: 10_000, Imports: 1000, Data: 100_000, Values: 20_000, Body: 256 << 10, Slots: 1000, Pressure: 250_000, Total: 6_000_000,
		Signature: 64, Table: 100_000, Pages: 256, Depth: 2000,
	}
}

// Charges beyond one unit per instruction.
const (
	callCost    = 3      // a call
	smallCost   = 32     // the most that a function may cost for its callers to pay
	growCost    = 10_000 // memory.grow, whatever its size
	bulkShift   = 4      // memory.fill, copy, init: a unit for every 16 bytes
	frameValues = 512    // values of one frame of depth, 4 KiB
	shallow     = 32     // frames that calls may add uncounted
)

// Module is a rewritten module with its properties.
type Module struct {
	Bytes   []byte
	Imports []Import
	Exports []Export
	// Functions and Loops count what was metered. Pressure and Slots are the maximum
	// over the functions, Total is the sum of all pressures.
	Functions, Loops, Pressure, Slots, Total int
}

// Import is an imported function.
type Import struct {
	Module, Name string
	Type         Signature
}

// Export is an exported item; Type is set for functions.
type Export struct {
	Name string
	Kind Kind
	Type Signature
}

// Kind is the kind of an export.
type Kind byte

// The kinds of exports.
const (
	KindFunc   Kind = 0
	KindTable  Kind = 1
	KindMemory Kind = 2
	KindGlobal Kind = 3
)

// Signature is a function type. Each byte is a value type of the binary format.
type Signature struct{ Params, Results string }

// Value types in a Signature.
const (
	I32 = "\x7f"
	I64 = "\x7e"
)

var errMagic = errors.New("not a WebAssembly 1.0 module")

// Rewrite returns the metered module, or an error written for its author.
func Rewrite(in []byte, limits Limits) (*Module, error) {
	if len(in) > limits.Module {
		return nil, fmt.Errorf("module of %d bytes, at most %d are allowed", len(in), limits.Module)
	}
	if len(in) < 8 || string(in[:8]) != "\x00asm\x01\x00\x00\x00" {
		return nil, errMagic
	}
	sections, err := split(in)
	if err != nil {
		return nil, err
	}
	w := &rewriter{limits: limits, sections: sections, module: &Module{}}
	if err := w.read(); err != nil {
		return nil, err
	}
	if err := w.write(in[:8]); err != nil {
		return nil, err
	}
	return w.module, nil
}
