package wasm

import (
	"encoding/binary"
	"math"
	"slices"

	"spokeshave.dev/sdk/abi"
)

// guest is a WebAssembly module under construction: a well-behaved policy
// that leaves every row as it is, unless a field says otherwise.
type guest struct {
	imports  [][2]string // module and name, (i32 i32 i32) -> () but for proc_exit and random_get
	rank     []byte      // body of spokeshave_rank, without end
	locals   byte        // i32 locals of rank
	alloc    []byte      // body of spokeshave_alloc
	setup    []byte      // body of spokeshave_configure, nil for none
	start    []byte      // body of a start function, nil for none
	more     [][]byte    // bodies of further () -> () functions, numbered from first
	memory   []byte      // limits, default 16 to 4096 pages
	table    []byte      // table section, without the count
	exports  []string    // further exports of the rank function
	without  string      // an export to leave out
	rankType byte        // type of rank, default (i32 i32) -> i32
}

// Types of the module by number.
const (
	typeCall  = 0 // (i32 i32) -> i32
	typeOne   = 1 // (i32) -> i32
	typeGet   = 2 // () -> i32
	typeVoid  = 3 // () -> ()
	typeThree = 4 // (i32 i32 i32) -> ()
	typeExit  = 5 // (i32) -> ()
)

// buffer is where the guest wants its batches.
const buffer = 65536

func (g guest) bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, body []byte) {
		out = append(out, id)
		out = append(uleb(out, len(body)), body...)
	}
	section(1, cat([]byte{6}, "\x60\x02\x7f\x7f\x01\x7f", "\x60\x01\x7f\x01\x7f", "\x60\x00\x01\x7f", "\x60\x00\x00", "\x60\x03\x7f\x7f\x7f\x00", "\x60\x01\x7f\x00"))
	if len(g.imports) > 0 {
		b := uleb(nil, len(g.imports))
		for _, i := range g.imports {
			typ := byte(typeThree)
			switch i[1] {
			case "proc_exit":
				typ = typeExit
			case "random_get":
				typ = typeCall
			}
			b = append(name(name(b, i[0]), i[1]), 0, typ)
		}
		section(2, b)
	}
	type fn struct {
		typ    byte
		locals byte
		body   []byte
		export string
	}
	functions := []fn{
		{g.rankType, g.locals, or(g.rank, i32(0)), abi.ExportRank},
		{typeOne, 0, or(g.alloc, i32(buffer)), abi.ExportAlloc},
		{typeGet, 0, i32(0), abi.ExportVersion},
	}
	if g.setup != nil {
		functions = append(functions, fn{typeCall, 0, g.setup, abi.ExportConfigure})
	}
	if g.start != nil {
		functions = append(functions, fn{typeVoid, 0, g.start, ""})
	}
	startAt := len(functions) - 1
	for _, b := range g.more {
		functions = append(functions, fn{typeVoid, 0, b, ""})
	}
	b := uleb(nil, len(functions))
	for _, f := range functions {
		b = append(b, f.typ)
	}
	section(3, b)
	if g.table != nil {
		section(4, append([]byte{1}, g.table...))
	}
	section(5, append([]byte{1}, or(g.memory, []byte("\x01\x10\x80\x20"))...))
	section(6, []byte("\x01\x7f\x01\x41\x00\x0b")) // a mutable i32
	exports := [][]byte{}
	add := func(n string, kind byte, index int) {
		if n != "" && n != g.without {
			exports = append(exports, uleb(append(name(nil, n), kind), index))
		}
	}
	add(abi.ExportMemory, 2, 0)
	for i, f := range functions {
		add(f.export, 0, len(g.imports)+i)
	}
	for _, n := range g.exports {
		add(n, 0, len(g.imports))
	}
	section(7, append(uleb(nil, len(exports)), slices.Concat(exports...)...))
	if g.start != nil {
		section(8, uleb(nil, len(g.imports)+startAt))
	}
	b = uleb(nil, len(functions))
	for _, f := range functions {
		body := []byte{0}
		if f.locals > 0 {
			body = []byte{1, f.locals, 0x7f}
		}
		body = append(append(body, f.body...), 0x0b)
		b = append(uleb(b, len(body)), body...)
	}
	section(10, b)
	return out
}

// first is the number of the first function in more.
func (g guest) first() int {
	n := len(g.imports) + 3
	if g.setup != nil {
		n++
	}
	if g.start != nil {
		n++
	}
	return n
}

func or(b, otherwise []byte) []byte {
	if b == nil {
		return otherwise
	}
	return b
}

// cat joins instructions, given as bytes or text.
func cat(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case []byte:
			out = append(out, p...)
		case string:
			out = append(out, p...)
		case int:
			out = append(out, byte(p))
		}
	}
	return out
}

func uleb(b []byte, n int) []byte {
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

func name(b []byte, s string) []byte { return append(uleb(b, len(s)), s...) }

// i32 is i32.const.
func i32(n int) []byte {
	b := []byte{0x41}
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if (n == 0 && c&0x40 == 0) || (n == -1 && c&0x40 != 0) {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// f64 is f64.const.
func f64(f float64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0x44}, math.Float64bits(f))
}

func callTo(n int) []byte { return uleb([]byte{0x10}, n) }

// Instructions.
const (
	unreachable = "\x00"
	forever     = "\x03\x40\x0c\x00\x0b" // loop br 0 end
	drop        = "\x1a"
)

// outAt pushes the address of the first out row: batch + its offset in the
// header.
func outAt() []byte { return cat("\x20\x00", "\x20\x00\x28\x02", uleb(nil, 96), "\x6a") }

// put64 and put32 store at an offset from the first out row.
func put64(offset int, value []byte) []byte {
	return cat(outAt(), value, "\x39\x03", uleb(nil, offset))
}

func put32(offset int, value []byte) []byte {
	return cat(outAt(), value, "\x36\x02", uleb(nil, offset))
}
