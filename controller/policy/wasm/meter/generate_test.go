package meter

import (
	"encoding/binary"
	"math"
)

// Value types of generated modules.
const (
	genI32 = 0x7f
	genI64 = 0x7e
	genF32 = 0x7d
	genF64 = 0x7c
)

// generator makes a valid module of any bytes: functions that compute, branch,
// loop, call each other, directly and through a table, use memory, and trap at
// times. Every module ends: functions and loops count down a global of its own
// and trap at 0. Equal bytes give equal modules.
type generator struct {
	entropy   []byte
	signature []genType
	functions []int // of signature
	// Of the function at hand:
	out    []byte
	locals []byte // types, parameters first
	labels int    // blocks around the place
	depth  int    // of the expression or statement
}

type genType struct{ params, results []byte }

// Globals of a generated module: the steps left, then one of each value type.
const (
	globalSteps  = 0
	globalValues = 1
)

func valueTypes() []byte { return []byte{genI32, genI64, genF32, genF64} }

// next is a number below n, 0 when the entropy is used up.
func (g *generator) next(n int) int {
	if len(g.entropy) == 0 {
		return 0
	}
	b := g.entropy[0]
	g.entropy = g.entropy[1:]
	return int(b) % n
}

func (g *generator) emit(code ...byte)      { g.out = append(g.out, code...) }
func (g *generator) emitU32(op byte, n int) { g.out = appendU32(append(g.out, op), uint32(n)) }
func (g *generator) typ() byte              { return valueTypes()[g.next(4)] }

func (g *generator) types(most int) []byte {
	var out []byte
	for range g.next(most + 1) {
		out = append(out, g.typ())
	}
	return out
}

// generate makes the module. Its functions are exported as f0, f1, …
func generate(entropy []byte) []byte {
	g := &generator{entropy: entropy}
	for range 1 + g.next(4) {
		g.signature = append(g.signature, genType{g.types(3), g.types(2)})
	}
	for range 1 + g.next(5) {
		g.functions = append(g.functions, g.next(len(g.signature)))
	}
	var types, functions, exports, elements, code [][]byte
	for _, s := range g.signature {
		types = append(types, cat([]byte{0x60}, vector(s.params), vector(s.results)))
	}
	bodies := len(g.functions)
	share := len(g.entropy) / bodies
	for i, t := range g.functions {
		functions = append(functions, appendU32(nil, uint32(t)))
		exports = append(exports, cat([]byte{2, 'f', byte('0' + i), 0}, appendU32(nil, uint32(i))))
		elements = append(elements, appendU32(nil, uint32(i)))
		rest := g.entropy[min(share, len(g.entropy)):]
		g.entropy = g.entropy[:min(share, len(g.entropy))]
		code = append(code, g.function(g.signature[t]))
		g.entropy = rest
	}
	exports = append(exports, []byte("\x06memory\x02\x00"))
	for i := range 5 {
		exports = append(exports, []byte{2, 'g', byte('0' + i), 3, byte(i)})
	}
	global := func(typ byte, value ...byte) []byte { return cat([]byte{typ, 1}, value, []byte{opEnd}) }
	globals := [][]byte{
		global(genI32, opI32Const, 0xe8, 0x07), global(genI32, opI32Const, 7), global(genI64, opI64Const, 9),
		global(genF32, append([]byte{0x43}, make([]byte, 4)...)...), global(genF64, append([]byte{0x44}, make([]byte, 8)...)...),
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		id   byte
		body []byte
	}{
		{1, list(types)},
		{3, list(functions)},
		{4, []byte{1, 0x70, 1, 8, 12}}, // a table of 8 to 12
		{5, []byte{1, 1, 1, 3}},        // a memory of 1 to 3 pages
		{6, list(globals)},
		{7, list(exports)},
		{9, cat([]byte{1, 0, opI32Const, 1, opEnd}, list(elements))}, // from element 1
		{12, []byte{1}},
		{10, list(code)},
		{11, []byte("\x01\x01\x05hello")}, // a passive segment
	} {
		out = cat(out, []byte{s.id}, appendU32(nil, uint32(len(s.body))), s.body)
	}
	return out
}

func (g *generator) function(t genType) []byte {
	g.out, g.labels, g.depth = nil, 0, 0
	g.locals = append([]byte(nil), t.params...)
	g.locals = append(g.locals, valueTypes()...)
	g.countDown()
	g.statements()
	for _, r := range t.results {
		g.expression(r)
		g.canonical(r)
	}
	g.emit(opEnd)
	declared := [][]byte{}
	for _, l := range g.locals[len(t.params):] {
		declared = append(declared, []byte{1, l})
	}
	body := cat(list(declared), g.out)
	return cat(appendU32(nil, uint32(len(body))), body)
}

// countDown ends the module when its steps are used up.
func (g *generator) countDown() {
	g.emit(opGlobalGet, globalSteps, opI32Const, 1, opI32Sub, opGlobalSet, globalSteps)
	g.emit(opGlobalGet, globalSteps, opI32Const, 0, 0x48, opIf, 0x40, opUnreachable, opEnd) // i32.lt_s
}

func (g *generator) statements() {
	for range 1 + g.next(5) {
		g.statement()
	}
}

func (g *generator) statement() {
	if g.depth > 4 || len(g.entropy) == 0 {
		g.emit(0x01) // nop
		return
	}
	g.depth++
	defer func() { g.depth-- }()
	switch g.next(16) {
	case 0, 1:
		i := g.next(len(g.locals))
		g.expression(g.locals[i])
		g.emitU32(0x21, i) // local.set
	case 2:
		i := g.next(4)
		g.expression(valueTypes()[i])
		g.canonical(valueTypes()[i])
		g.emit(opGlobalSet, byte(globalValues+i))
	case 3, 4:
		g.store()
	case 5, 6:
		g.expression(genI32)
		g.open(opIf, 0x40)
		g.statements()
		if g.next(2) == 0 {
			g.emit(opElse)
			g.statements()
		}
		g.end()
	case 7:
		g.open(opBlock, 0x40)
		g.statements()
		g.end()
	case 8, 9:
		g.open(opLoop, 0x40)
		g.countDown()
		g.statements()
		g.expression(genI32)
		g.emit(opBrIf, 0)
		g.end()
	case 10:
		g.branch()
	case 11:
		g.call(g.next(len(g.functions)))
	case 12:
		g.indirect()
	case 13:
		g.bulk()
	case 14:
		g.expression(genI32)
		g.emit(opMemoryGrow, 0, 0x1a) // drop
	default:
		g.expression(g.typ())
		g.emit(0x1a)
	}
}

func (g *generator) open(op, typ byte) {
	g.emit(op, typ)
	g.labels++
}

func (g *generator) end() {
	g.emit(opEnd)
	g.labels--
}

// branch leaves for a block around, or the function: not for blocks that leave
// a value, of which there are none around statements.
func (g *generator) branch() {
	if g.labels == 0 {
		return
	}
	to := func() int { return g.next(g.labels) }
	switch g.next(8) {
	case 0, 1:
		g.emitU32(opBr, to())
	case 2:
		g.expression(genI32)
		g.emit(opBrTable, 2)
		for range 3 {
			g.out = appendU32(g.out, uint32(to()))
		}
	case 3:
		g.emit(opUnreachable)
	default:
		g.expression(genI32)
		g.emitU32(opBrIf, to())
	}
}

func (g *generator) call(fn int) {
	t := g.signature[g.functions[fn]]
	for _, p := range t.params {
		g.expression(p)
	}
	g.emitU32(opCall, fn)
	for range t.results {
		g.emit(0x1a)
	}
}

// indirect calls what is in the table: a function of the type, of another, or
// nothing.
func (g *generator) indirect() {
	at := g.next(len(g.signature))
	t := g.signature[at]
	for _, p := range t.params {
		g.expression(p)
	}
	g.emit(opI32Const, byte(g.next(10)))
	g.emitU32(opCallIndirect, at)
	g.emit(0)
	for range t.results {
		g.emit(0x1a)
	}
}

func (g *generator) bulk() {
	for range 2 {
		g.address()
	}
	switch g.next(5) {
	case 0:
		g.emit(opI32Const, byte(g.next(64)), opMisc, 10, 0, 0) // memory.copy
	case 1:
		g.emit(opI32Const, byte(g.next(8)), opMisc, 8, 0, 0) // memory.init
	case 2:
		g.emit(0x1a, 0x1a, opMisc, 9, 0) // data.drop
	case 3:
		g.emit(0x1a, 0x1a, opI32Const, byte(g.next(12)), opI32Const, byte(g.next(12)), opI32Const, byte(g.next(4)), opMisc, 14, 0, 0) // table.copy
	default:
		g.emit(opI32Const, byte(g.next(64)), opMisc, 11, 0) // memory.fill
	}
}

// address pushes an address: mostly inside the memory.
func (g *generator) address() {
	g.expression(genI32)
	if g.next(16) > 0 {
		g.emit(opI32Const, 0xff, 0xff, 0x03, 0x71) // i32.and 65535
	}
}

func (g *generator) store() {
	type store struct{ op, typ, align byte }
	s := []store{
		{0x36, genI32, 2},
		{0x37, genI64, 3},
		{0x38, genF32, 2},
		{0x39, genF64, 3},
		{0x3a, genI32, 0},
		{0x3b, genI32, 1},
		{0x3c, genI64, 0},
		{0x3d, genI64, 1},
		{0x3e, genI64, 2},
	}[g.next(9)]
	g.address()
	g.expression(s.typ)
	g.canonical(s.typ)
	g.emit(s.op, byte(g.next(int(s.align)+1)), byte(g.next(100)))
}

// canonical makes 0 of a NaN, whose bits the specification leaves open.
func (g *generator) canonical(typ byte) {
	zero := map[byte][]byte{genF32: append([]byte{0x43}, make([]byte, 4)...), genF64: append([]byte{0x44}, make([]byte, 8)...)}[typ]
	if zero == nil {
		return
	}
	local := len(g.locals)
	g.locals = append(g.locals, typ)
	equal := byte(0x5b) // f32.eq
	if typ == genF64 {
		equal = 0x61
	}
	g.emitU32(opLocalTee, local)
	g.emit(zero...)
	g.emitU32(opLocalGet, local)
	g.emitU32(opLocalGet, local)
	g.emit(equal, 0x1b) // select
}

func (g *generator) constant(typ byte) {
	switch typ {
	case genI32:
		g.out = appendSigned(append(g.out, opI32Const), int64([]int32{0, 1, -1, 2, 31, 65535, math.MaxInt32, math.MinInt32}[g.next(8)]))
	case genI64:
		g.out = appendSigned(append(g.out, opI64Const), []int64{0, 1, -1, 2, 63, 1 << 40, math.MaxInt64, math.MinInt64}[g.next(8)])
	case genF32:
		f := []float32{0, 1, -1, 0.5, 1e30, float32(math.Inf(1)), -3e9, 7}[g.next(8)]
		g.out = binary.LittleEndian.AppendUint32(append(g.out, 0x43), math.Float32bits(f))
	case genF64:
		f := []float64{0, 1, -1, 0.5, 1e300, math.Inf(-1), -3e18, 7}[g.next(8)]
		g.out = binary.LittleEndian.AppendUint64(append(g.out, 0x44), math.Float64bits(f))
	}
}

func (g *generator) expression(typ byte) {
	if g.depth > 6 || len(g.entropy) == 0 {
		g.constant(typ)
		return
	}
	g.depth++
	defer func() { g.depth-- }()
	switch g.next(12) {
	case 0:
		g.constant(typ)
	case 1, 2, 3:
		for i := range g.locals { // the first of its type, from a random place
			if at := (i + g.next(4)) % len(g.locals); g.locals[at] == typ {
				g.emitU32(opLocalGet, at)
				return
			}
		}
		g.constant(typ)
	case 4:
		g.emit(opGlobalGet, byte(globalValues+int(genI32-typ)))
	case 5:
		g.load(typ)
	case 6:
		g.expression(typ)
		g.expression(typ)
		g.expression(genI32)
		g.emit(0x1b) // select
	case 7:
		g.expression(genI32)
		g.open(opIf, typ)
		g.value(typ)
		g.emit(opElse)
		g.value(typ)
		g.end()
	case 8:
		g.convert(typ)
	case 9:
		if typ == genI32 {
			g.emit(0x3f, 0) // memory.size
			return
		}
		g.constant(typ)
	default:
		g.operation(typ)
	}
}

// value is an expression inside a block that leaves one: statements in it must
// not leave for the blocks around.
func (g *generator) value(typ byte) {
	labels := g.labels
	g.labels = 0
	if g.next(3) == 0 {
		g.statement()
	}
	g.expression(typ)
	g.labels = labels
}

func (g *generator) load(typ byte) {
	ops := map[byte][]byte{
		genI32: {0x28, 0x2c, 0x2d, 0x2e, 0x2f}, genI64: {0x29, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35},
		genF32: {0x2a}, genF64: {0x2b},
	}[typ]
	g.address()
	g.emit(ops[g.next(len(ops))], 0, byte(g.next(100)))
}

// operation takes one operand or two, and may trap.
func (g *generator) operation(typ byte) {
	type family struct {
		unary, binary [2]byte // first and last opcode
		also          []byte  // further unary ones
	}
	f := map[byte]family{
		genI32: {[2]byte{0x67, 0x69}, [2]byte{0x6a, 0x78}, []byte{0x45, 0xc0, 0xc1}},
		genI64: {[2]byte{0x79, 0x7b}, [2]byte{0x7c, 0x8a}, []byte{0xc2, 0xc3, 0xc4}},
		genF32: {[2]byte{0x8b, 0x91}, [2]byte{0x92, 0x98}, []byte{0x8b}},
		genF64: {[2]byte{0x99, 0x9f}, [2]byte{0xa0, 0xa6}, []byte{0x99}},
	}[typ]
	pick := func(span [2]byte) byte { return span[0] + byte(g.next(int(span[1]-span[0])+1)) }
	switch g.next(4) {
	case 0:
		g.expression(typ)
		g.emit(pick(f.unary))
	case 1:
		g.expression(typ)
		g.emit(f.also[g.next(len(f.also))])
	default:
		g.expression(typ)
		g.expression(typ)
		op := pick(f.binary)
		if op == 0x98 || op == 0xa6 { // copysign shows the sign of a NaN
			op--
		}
		g.emit(op)
	}
}

// convert makes a value of another type into one of this.
func (g *generator) convert(typ byte) {
	type from struct {
		typ byte
		op  []byte
	}
	ways := map[byte][]from{
		genI32: {{genI64, []byte{0xa7}}, {genF32, []byte{0xa8}}, {genF64, []byte{0xab}}, {genF64, []byte{opMisc, 2}}, {genI64, []byte{0x50}}},
		genI64: {{genI32, []byte{0xac}}, {genI32, []byte{0xad}}, {genF32, []byte{0xae}}, {genF64, []byte{0xb1}}, {genF32, []byte{opMisc, 5}}},
		genF32: {{genI32, []byte{0xb2}}, {genI64, []byte{0xb5}}, {genF64, []byte{0xb6}}, {genI32, []byte{0xbe}}},
		genF64: {{genI32, []byte{0xb7}}, {genI64, []byte{0xba}}, {genF32, []byte{0xbb}}, {genI64, []byte{0xbf}}},
	}[typ]
	way := ways[g.next(len(ways))]
	g.expression(way.typ)
	g.emit(way.op...)
}

func list(items [][]byte) []byte { return append(appendU32(nil, uint32(len(items))), cat(items...)...) }

func vector(b []byte) []byte { return append(appendU32(nil, uint32(len(b))), b...) }

func cat(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func appendSigned(b []byte, n int64) []byte {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func appendU32(b []byte, n uint32) []byte { return binary.AppendUvarint(b, uint64(n)) }
