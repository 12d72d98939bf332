package meter

import "fmt"

// Globals that the rewriting adds behind the module's own.
func (w *rewriter) fuelGlobal() uint32  { return w.globals }
func (w *rewriter) depthGlobal() uint32 { return w.globals + 1 }
func (w *rewriter) bulkGlobal() uint32  { return w.globals + 2 }

// shift returns the new index of a function: the safepoint becomes the last import.
func (w *rewriter) shift(fn uint32) uint32 {
	if fn >= w.imported {
		return fn + 1
	}
	return fn
}

// function reads the index of one of the module's functions and returns its new
// index. An index beyond them is refused, since it would refer to what the rewriting
// adds.
func (w *rewriter) function(r *reader) uint32 {
	fn := r.u32()
	if int64(fn) >= int64(len(w.functions)) {
		r.failf("no function %d", fn)
		return 0
	}
	return w.shift(fn)
}

// write assembles the metered module.
func (w *rewriter) write(head []byte) error {
	out := append([]byte(nil), head...)
	steps := []struct {
		id     byte
		name   string
		always bool
		f      func(r *reader) []byte
	}{
		{secType, "types", true, w.writeTypes},
		{secImport, "imports", true, w.writeImports},
		{secFunction, "functions", false, rest},
		{secTable, "tables", false, w.writeTables},
		{secMemory, "memory", false, w.writeMemory},
		{secGlobal, "globals", true, w.writeGlobals},
		{secExport, "exports", true, w.writeExports},
		{secStart, "start", false, func(r *reader) []byte { return putU32(nil, w.function(r)) }},
		{secElement, "elements", false, w.writeElements},
		{secDataCount, "data count", false, rest},
		{secCode, "code", false, w.writeCode},
		{secData, "data", false, w.writeData},
	}
	for _, s := range steps {
		body := w.sections[s.id]
		if body == nil && !s.always {
			continue
		}
		if body == nil {
			body = []byte{0}
		}
		r := &reader{b: body}
		b := s.f(r)
		if r.err == nil && !r.done() {
			r.failf("%d bytes too many", len(r.b)-r.at)
		}
		if r.err != nil {
			return fmt.Errorf("%s: %w", s.name, r.err)
		}
		out = append(out, s.id)
		out = putU32(out, uint32(len(b)))
		out = append(out, b...)
	}
	w.module.Bytes = out
	return nil
}

// rest returns all remaining bytes.
func rest(r *reader) []byte { return r.take(uint32(len(r.b) - r.at)) }

func (w *rewriter) writeTypes(r *reader) []byte {
	b := putU32(nil, r.u32()+1)
	b = append(b, rest(r)...)
	return append(b, 0x60, 0, 1, I32[0]) // () -> i32: the safepoint
}

func (w *rewriter) writeImports(r *reader) []byte {
	b := putU32(nil, r.u32()+1)
	b = append(b, rest(r)...)
	b = putName(b, SafepointModule)
	b = putName(b, SafepointName)
	b = append(b, byte(KindFunc))
	return putU32(b, uint32(len(w.types)))
}

func (w *rewriter) writeTables(r *reader) []byte {
	n := r.u32()
	b := putU32(nil, n)
	for range n {
		b = append(b, r.byte())
		b = bound(r, b, w.limits.Table)
	}
	return b
}

// bound writes limits with their maximum lowered to most, or added.
func bound(r *reader, b []byte, most uint32) []byte {
	least, declared := limit(r)
	if declared != nil {
		most = min(most, *declared)
	}
	return putU32(putU32(append(b, 1), least), most)
}

func (w *rewriter) writeMemory(r *reader) []byte {
	n := r.count(2)
	if n > 1 {
		r.failf("%d memories, at most one is allowed", n)
		return nil
	}
	b := putU32(nil, uint32(n))
	for range n {
		at := r.at
		if least, _ := limit(r); least > w.limits.Pages {
			r.failf("starts with %d pages of 64 KiB, at most %d are allowed", least, w.limits.Pages)
			return nil
		}
		r.at = at
		b = bound(r, b, w.limits.Pages)
	}
	return b
}

func (w *rewriter) writeGlobals(r *reader) []byte {
	n := r.u32()
	b := putU32(nil, n+3)
	for range n {
		b = append(b, r.valueType(), r.byte())
		b = w.expression(r, b)
	}
	b = append(b, I64[0], 1, opI64Const, 0, opEnd)    // fuel: the first charge asks the host
	b = append(b, I32[0], 1, opI32Const, 0, opEnd)    // depth
	return append(b, I32[0], 1, opI32Const, 0, opEnd) // size of a bulk operation
}

func (w *rewriter) writeExports(r *reader) []byte {
	n := r.u32()
	b := putU32(nil, n+2)
	for range n {
		b = putName(b, r.name())
		kind, index := r.byte(), r.u32()
		if Kind(kind) == KindFunc {
			index = w.shift(index)
		}
		b = putU32(append(b, kind), index)
	}
	b = putU32(append(putName(b, FuelExport), byte(KindGlobal)), w.fuelGlobal())
	return putU32(append(putName(b, DepthExport), byte(KindGlobal)), w.depthGlobal())
}

func (w *rewriter) writeElements(r *reader) []byte {
	n := entries(r, 2, w.limits.Entries)
	b := putU32(nil, uint32(n))
	for range n {
		flag := r.u32()
		if flag > 7 {
			r.failf("element kind %d is not supported", flag)
			return nil
		}
		b = putU32(b, flag)
		if flag&1 == 0 { // active: where to
			if flag&2 != 0 {
				b = putU32(b, r.u32())
			}
			b = w.expression(r, b)
		}
		if flag&3 != 0 {
			b = append(b, elementKind(r, flag))
		}
		count := r.count(1)
		b = putU32(b, uint32(count))
		for range count {
			if flag&4 != 0 {
				b = w.expression(r, b)
			} else {
				b = putU32(b, w.function(r))
			}
		}
	}
	return b
}

// elementKind reads the kind of the elements: functions, or a reference type where
// the elements are expressions.
func elementKind(r *reader, flag uint32) byte {
	if flag&4 != 0 {
		return r.referenceType()
	}
	kind := r.byte()
	if kind != 0 {
		r.failf("element kind %#x is not supported", kind)
	}
	return kind
}

func (w *rewriter) writeData(r *reader) []byte {
	n := entries(r, 2, w.limits.Data)
	b := putU32(nil, uint32(n))
	for range n {
		flag := r.u32()
		if flag > 2 {
			r.failf("data kind %d is not supported", flag)
			return nil
		}
		b = putU32(b, flag)
		if flag == 2 {
			b = putU32(b, r.u32())
		}
		if flag != 1 {
			b = w.expression(r, b)
		}
		size := r.u32()
		b = append(putU32(b, size), r.take(size)...)
	}
	return b
}

// expression copies a constant expression with renumbered functions.
func (w *rewriter) expression(r *reader, b []byte) []byte {
	for r.err == nil {
		at := r.at
		op := r.byte()
		switch op {
		case opEnd:
			return append(b, op)
		case opGlobalGet:
			if n := r.u32(); n >= w.globals {
				r.failf("no global %d", n)
			}
		case opI32Const, opI64Const:
			r.number()
		case 0x43: // f32.const
			r.take(4)
		case 0x44: // f64.const
			r.take(8)
		case opRefNull:
			r.referenceType()
		case opRefFunc:
			b = putU32(append(b, op), w.function(r))
			continue
		case opSIMD:
			if sub := r.sub(); sub != 12 {
				r.failf("constant SIMD instruction %d is not supported", sub)
			}
			r.take(16)
		default:
			r.failf("constant instruction %#x is not supported", op)
		}
		if r.err == nil {
			b = append(b, r.b[at:r.at]...)
		}
	}
	return b
}
