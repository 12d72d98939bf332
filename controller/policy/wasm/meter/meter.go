// Package meter rewrites a WebAssembly module so that it pays for what it
// does. Every function and every loop body takes its cost from a fuel counter
// before it runs; when a slice of fuel is used up the module calls the host's
// safepoint, which refills the counter or stops the module; calls are counted
// against a depth limit. Fuel is deterministic: the same module and input use
// the same amount on every machine.
//
// The rewriter also bounds what a module costs before it runs at all: it
// refuses, by opcode, every feature that is not on its list, and refuses
// modules whose compilation would take seconds or gigabytes.
//
// It never panics, whatever the bytes. It does not validate types: the engine
// that compiles the result does that. It does make sure that a module cannot
// name what the rewriting adds to it.
//
// Not here: the safepoint itself and everything else of the host.
package meter

import (
	"errors"
	"fmt"
)

// Names of what the rewriting adds to a module.
const (
	// SafepointModule and SafepointName name the imported function
	// () -> i32 that runs when fuel is used up; other than 0 stops the module.
	SafepointModule = "spokeshave_meter"
	SafepointName   = "safepoint"
	// FuelExport is the i64 global with the fuel left of the slice,
	// DepthExport the i32 global with the call depth.
	FuelExport  = reserved + "fuel"
	DepthExport = reserved + "depth"

	reserved = "__spokeshave_"
)

// Limits bound a module. The zero value of a field is not a default: use
// Defaults.
type Limits struct {
	Module    int    // bytes of the module
	Entries   int    // types, imports, globals, exports, elements or data segments
	Body      int    // bytes of a function body
	Slots     int    // parameters, locals and operands of a function
	Pressure  int    // weight of a function for the compiler, about microseconds
	Total     int    // the same of all functions
	Signature int    // parameters or results of a function type
	Table     uint32 // elements of a table
	Pages     uint32 // 64 KiB pages of memory
	Depth     uint32 // frames; a large frame counts as several
}

// Defaults are the limits in force unless a policy asks for less.
func Defaults() Limits {
	return Limits{
		Module: 8 << 20, Entries: 100_000, Body: 256 << 10, Slots: 1000, Pressure: 250_000, Total: 6_000_000,
		Signature: 64, Table: 100_000, Pages: 256, Depth: 2000,
	}
}

// What the rewriting charges beyond one unit for each instruction.
const (
	callCost    = 3      // a call
	smallCost   = 32     // the most that a function may cost for its callers to pay
	growCost    = 10_000 // memory.grow, whatever its size
	bulkShift   = 4      // memory.fill, copy, init: a unit for every 16 bytes
	frameValues = 512    // values of one frame of depth, 4 KiB
	shallow     = 32     // frames that calls may add uncounted
)

// Module is a rewritten module and what is known of it.
type Module struct {
	Bytes   []byte
	Imports []Import
	Exports []Export
	// Functions and Loops count what was metered; Pressure and Slots are the
	// largest of any function, Total the sum of all pressures.
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

// Kind says what is exported.
type Kind byte

// The kinds of exports.
const (
	KindFunc   Kind = 0
	KindTable  Kind = 1
	KindMemory Kind = 2
	KindGlobal Kind = 3
)

// Signature is a function type as its binary value types.
type Signature struct{ Params, Results string }

// Value types in a Signature.
const (
	I32 = "\x7f"
	I64 = "\x7e"
)

var errMagic = errors.New("not a WebAssembly 1.0 module")

// Rewrite returns the metered module, or an error for its author.
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
