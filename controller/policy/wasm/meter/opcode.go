package meter

import (
	"errors"
	"fmt"
)

// Opcodes that the rewriter treats by name.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opI32GtU       = 0x4b
	opI64LtS       = 0x53
	opI64GeS       = 0x59
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI64Add       = 0x7c
	opI64Sub       = 0x7d
	opI64ShrU      = 0x88
	opI64ExtendI32 = 0xad
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opMisc         = 0xfc
	opSIMD         = 0xfd
)

var errOpcode = errors.New("not supported")

// plain reads the immediates of an instruction that opens or closes no block, and
// updates the gauge. It refuses unknown instructions.
func (w *rewriter) plain(r *reader, op byte, g *gauge, f *frame) error {
	switch {
	case op == opUnreachable || op == opReturn:
		g.stop()
		return nil
	case op == opBr:
		g.label(r)
		g.stop()
		return nil
	case op == opBrIf:
		g.label(r)
		return g.move(1, 0)
	case op == opBrTable:
		n := r.count(1)
		for range n + 1 {
			g.label(r)
		}
		f.blocks += n / 4
		g.stop()
		return nil
	case op == opCall:
		fn := r.u32()
		if int64(fn) >= int64(len(w.functions)) {
			return fmt.Errorf("no function %d", fn)
		}
		s := w.types[w.functions[fn]]
		return g.move(len(s.Params), len(s.Results))
	case op == opCallIndirect:
		typ := r.u32()
		r.u32()
		if int64(typ) >= int64(len(w.types)) {
			return fmt.Errorf("no type %d", typ)
		}
		s := w.types[typ]
		return g.move(len(s.Params)+1, len(s.Results))
	case op >= opLocalGet && op <= opLocalTee:
		if n := r.u32(); int64(n) >= int64(f.params+f.locals) {
			return fmt.Errorf("no local %d", n)
		}
		return g.move(variable(op))
	case op == opGlobalGet || op == opGlobalSet:
		if n := r.u32(); n >= w.globals {
			return fmt.Errorf("no global %d", n)
		}
		return g.move(variable(op))
	case op == opRefFunc:
		w.function(r)
		return g.move(0, 1)
	case op == opMisc:
		return misc(r, g)
	case op == opSIMD:
		return simd(r, g)
	}
	pop, push, ok := simple(r, op)
	if !ok {
		return errOpcode
	}
	return g.move(pop, push)
}

func variable(op byte) (pop, push int) {
	switch op {
	case opLocalGet, opGlobalGet:
		return 0, 1
	case opLocalTee:
		return 1, 1
	}
	return 1, 0
}

// simple reads the immediates of an instruction with a fixed effect on the stack.
func simple(r *reader, op byte) (pop, push int, ok bool) {
	switch {
	case op == 0x01: // nop
		return 0, 0, true
	case op == 0x1a: // drop
		return 1, 0, true
	case op == 0x1b: // select
		return 3, 1, true
	case op == 0x1c: // select with types
		for range r.count(1) {
			r.valueType()
		}
		return 3, 1, true
	case op == 0x25: // table.get
		r.u32()
		return 1, 1, true
	case op == 0x26: // table.set
		r.u32()
		return 2, 0, true
	case op >= 0x28 && op <= 0x3e: // loads, stores
		r.u32()
		r.u32()
		if op >= 0x36 {
			return 2, 0, true
		}
		return 1, 1, true
	case op == 0x3f: // memory.size
		r.byte()
		return 0, 1, true
	case op == opMemoryGrow:
		r.byte()
		return 1, 1, true
	case op == opI32Const || op == opI64Const:
		r.number()
		return 0, 1, true
	case op == 0x43: // f32.const
		r.take(4)
		return 0, 1, true
	case op == 0x44: // f64.const
		r.take(8)
		return 0, 1, true
	case op >= 0x45 && op <= 0xc4:
		return numeric(op), 1, true
	case op == opRefNull:
		r.referenceType()
		return 0, 1, true
	case op == opRefIsNull:
		return 1, 1, true
	}
	return 0, 0, false
}

// numeric returns the number of operands of a numeric instruction.
func numeric(op byte) int {
	switch {
	case op == 0x45 || op == 0x50, // eqz
		op >= 0x67 && op <= 0x69, op >= 0x79 && op <= 0x7b, // clz, ctz, popcnt
		op >= 0x8b && op <= 0x91, op >= 0x99 && op <= 0x9f, // abs to sqrt
		op >= 0xa7: // conversions
		return 1
	}
	return 2
}

// misc reads an instruction with prefix 0xfc: saturating conversions and bulk
// operations.
func misc(r *reader, g *gauge) error {
	switch sub := r.u32(); sub {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		return g.move(1, 1)
	case miscMemoryInit, miscMemoryCopy, miscTableInit, miscTableCopy:
		r.u32()
		r.u32()
		return g.move(3, 0)
	case miscMemoryFill, miscTableFill:
		r.u32()
		return g.move(3, 0)
	case 9, 13: // data.drop, elem.drop
		r.u32()
		return nil
	case miscTableGrow:
		r.u32()
		return g.move(2, 1)
	case 16: // table.size
		r.u32()
		return g.move(0, 1)
	default:
		return fmt.Errorf("%d is not supported", sub)
	}
}

// Bulk operations, whose cost depends on their topmost operand.
const (
	miscMemoryInit = 8
	miscMemoryCopy = 10
	miscMemoryFill = 11
	miscTableInit  = 12
	miscTableCopy  = 14
	miscTableGrow  = 15
	miscTableFill  = 17
)
