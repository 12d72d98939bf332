package meter

import (
	"encoding/binary"
	"math"
)

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
