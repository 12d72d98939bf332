package meter

// writeCode is the second pass over the functions: it emits them metered.
func (w *rewriter) writeCode(r *reader) []byte {
	n := r.u32()
	out := putU32(nil, n)
	var body []byte
	for i := range w.frames {
		e := &emitter{w: w, f: &w.frames[i], r: &reader{b: r.take(r.u32())}, b: body[:0]}
		if err := e.function(); err != nil {
			r.failf("function %d: %w", int(w.imported)+i, err)
			return nil
		}
		body = e.b
		out = putU32(out, uint32(len(body)))
		out = append(out, body...)
	}
	return out
}

// emitter writes one function.
type emitter struct {
	w *rewriter
	f *frame
	r *reader
	b []byte
	// fuel is the number of the local that holds the fuel left.
	fuel  uint32
	loops int
}

func (e *emitter) function() error {
	groups := e.r.u32()
	e.b = putU32(e.b, groups+1)
	for range groups {
		e.b = putU32(e.b, e.r.u32())
		e.b = append(e.b, e.r.byte())
	}
	e.b = append(e.b, 1, I64[0])
	e.fuel = uint32(e.f.params + e.f.locals)
	e.charge(e.f.costs[0])
	// The same walk as in the first pass, over a scratch frame.
	g := &gauge{open: []control{{results: len(e.f.signature.Results)}}}
	scratch := frame{params: e.f.params, locals: e.f.locals, costs: []uint32{0}}
	region := 0
	for len(g.open) > 0 && e.r.err == nil {
		at := e.r.at
		op := e.r.byte()
		next, err := e.w.step(e.r, op, g, &scratch, region)
		if err != nil {
			return err
		}
		region = next
		if e.r.err == nil {
			e.instruction(op, at)
		}
	}
	return e.r.err
}

// instruction copies the instruction that was read from at, with what it pays.
func (e *emitter) instruction(op byte, at int) {
	raw := e.r.b[at:e.r.at]
	switch op {
	case opLoop:
		e.loops++
		e.b = append(e.b, raw...)
		e.charge(e.f.costs[e.loops])
	case opCall:
		fn := (&reader{b: raw, at: 1}).u32()
		e.enter()
		e.b = putU32(append(e.b, opCall), e.w.shift(fn))
		e.leave()
	case opCallIndirect:
		e.enter()
		e.b = append(e.b, raw...)
		e.leave()
	case opRefFunc:
		fn := (&reader{b: raw, at: 1}).u32()
		e.b = putU32(append(e.b, opRefFunc), e.w.shift(fn))
	case opMemoryGrow:
		e.charge(growCost)
		e.b = append(e.b, raw...)
	case opMisc:
		e.bulk((&reader{b: raw, at: 1}).u32())
		e.b = append(e.b, raw...)
	default:
		e.b = append(e.b, raw...)
	}
}

// charge takes cost from the fuel and calls the safepoint when none is left.
func (e *emitter) charge(cost uint32) {
	b, w := e.b, e.w
	b = putU32(append(b, opGlobalGet), w.fuelGlobal())
	b = putS64(append(b, opI64Const), int64(max(cost, 1)))
	b = append(b, opI64Sub)
	b = putU32(append(b, opLocalTee), e.fuel)
	b = putU32(append(b, opGlobalSet), w.fuelGlobal())
	b = putU32(append(b, opLocalGet), e.fuel)
	b = append(b, opI64Const, 0, opI64LtS, opIf, 0x40)
	b = putU32(append(b, opCall), w.imported) // the safepoint
	e.b = append(b, opIf, 0x40, opUnreachable, opEnd, opEnd)
}

// bulk charges for the size of a bulk operation, its topmost operand.
func (e *emitter) bulk(sub uint32) {
	shift := int64(0)
	switch sub {
	case miscMemoryInit, miscMemoryCopy, miscMemoryFill:
		shift = bulkShift
	case miscTableInit, miscTableCopy, miscTableGrow, miscTableFill:
	default:
		return
	}
	b, w := e.b, e.w
	b = putU32(append(b, opGlobalSet), w.bulkGlobal())
	b = putU32(append(b, opGlobalGet), w.fuelGlobal())
	b = putU32(append(b, opGlobalGet), w.bulkGlobal())
	b = putS64(append(b, opI64ExtendI32, opI64Const), shift)
	b = append(b, opI64ShrU, opI64Sub)
	e.b = putU32(append(b, opGlobalSet), w.fuelGlobal())
	e.charge(1)
	e.b = putU32(append(e.b, opGlobalGet), w.bulkGlobal())
}

// enter adds this function's weight to the depth before it calls another,
// leave takes it off again. A trap leaves the depth where it was.
func (e *emitter) enter() {
	b, depth := e.b, e.w.depthGlobal()
	b = putU32(append(b, opGlobalGet), depth)
	b = putS64(append(b, opI32Const), int64(e.f.weight()))
	b = append(b, opI32Add)
	b = putU32(append(b, opGlobalSet), depth)
	b = putU32(append(b, opGlobalGet), depth)
	b = putS64(append(b, opI32Const), int64(e.w.limits.Depth))
	e.b = append(b, opI32GtU, opIf, 0x40, opUnreachable, opEnd)
}

func (e *emitter) leave() {
	b, depth := e.b, e.w.depthGlobal()
	b = putU32(append(b, opGlobalGet), depth)
	b = putS64(append(b, opI32Const), int64(e.f.weight()))
	b = append(b, opI32Sub)
	e.b = putU32(append(b, opGlobalSet), depth)
}
