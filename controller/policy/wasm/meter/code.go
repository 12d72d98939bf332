package meter

// writeCode is the second pass over the functions: it writes them with metering.
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
	// fuel is the index of the local for the remaining fuel. In a function that
	// keeps its fuel the local is valid from entry to exit, and the global only
	// where other functions or the host read it.
	fuel  uint32
	loops int
	// tight has, for every open block, the function first, how many of the blocks up
	// to it are loops that are written as two.
	tight []uint32
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
	if e.f.keeps {
		e.load()
	}
	if cost := e.f.regions[0].cost; !e.f.small && cost > 0 {
		e.charge(cost)
	}
	if e.f.keeps { // a block around the body, so that every exit passes its end
		e.b = append(e.b, opBlock)
		if results := e.f.signature.Results; results == "" {
			e.b = append(e.b, 0x40)
		} else {
			e.b = append(e.b, results[0])
		}
	}
	// This repeats the walk of the first pass, with a scratch frame.
	g := &gauge{open: []control{{results: len(e.f.signature.Results)}}}
	scratch := frame{params: e.f.params, locals: e.f.locals, regions: make([]region, 1)}
	e.tight = append(e.tight, 0)
	at := 0
	for len(g.open) > 0 && e.r.err == nil {
		from := e.r.at
		op := e.r.byte()
		next, err := e.w.step(e.r, op, g, &scratch, at)
		if err != nil {
			return err
		}
		at = next
		if e.r.err == nil {
			e.instruction(op, from)
		}
	}
	if e.f.keeps {
		e.save()
		e.b = append(e.b, opEnd)
	}
	return e.r.err
}

// instruction writes the instruction that was read from at, with its charges.
func (e *emitter) instruction(op byte, at int) {
	raw := e.r.b[at:e.r.at]
	operands := &reader{b: raw, at: 1}
	switch op {
	case opBlock, opIf:
		e.nest(0)
		e.b = append(e.b, raw...)
	case opLoop:
		e.loop(raw)
	case opEnd:
		last := len(e.tight) - 1
		if last > 0 && e.tight[last] > e.tight[last-1] {
			e.b = append(e.b, opEnd)
		}
		e.tight = e.tight[:last]
		e.b = append(e.b, raw...)
	case opBr, opBrIf:
		e.b = putU32(append(e.b, op), e.label(operands.u32()))
	case opBrTable:
		n := operands.u32()
		e.b = putU32(append(e.b, op), n)
		for range n + 1 {
			e.b = putU32(e.b, e.label(operands.u32()))
		}
	case opReturn:
		if !e.f.keeps {
			e.b = append(e.b, raw...)
			return
		}
		e.b = putU32(append(e.b, opBr), e.label(uint32(len(e.tight)-1)))
	case opCall:
		fn := operands.u32()
		e.call(e.w.frame(fn), putU32([]byte{opCall}, e.w.shift(fn)))
	case opCallIndirect:
		e.call(&frame{}, raw) // nothing is known of the callee
	case opRefFunc:
		e.b = putU32(append(e.b, opRefFunc), e.w.shift(operands.u32()))
	case opMemoryGrow:
		e.charge(growCost)
		e.b = append(e.b, raw...)
	case opMisc:
		e.bulk(operands.u32())
		e.b = append(e.b, raw...)
	default:
		e.b = append(e.b, raw...)
	}
}

// label returns the index, in the metered function, of the open block with index n
// in the original.
func (e *emitter) label(n uint32) uint32 {
	last := len(e.tight) - 1
	return n + e.tight[last] - e.tight[last-int(n)]
}

// nest opens a block that is written with the given number of additional blocks.
func (e *emitter) nest(more uint32) {
	e.tight = append(e.tight, e.tight[len(e.tight)-1]+more)
}

// call writes a call. It counts the call depth if the callee is deep, and stores the
// fuel in the global if the callee spends fuel.
func (e *emitter) call(callee *frame, raw []byte) {
	deep, spends := callee.deep(), callee.spends()
	if e.f.keeps && spends {
		e.save()
	}
	if deep {
		e.enter()
	}
	e.b = append(e.b, raw...)
	if deep {
		e.leave()
	}
	if e.f.keeps && spends {
		e.load()
	}
}

// bulk charges for the size of a bulk operation, which is its topmost operand.
func (e *emitter) bulk(sub uint32) {
	shift := int64(0)
	switch sub {
	case miscMemoryInit, miscMemoryCopy, miscMemoryFill:
		shift = bulkShift
	case miscTableInit, miscTableCopy, miscTableGrow, miscTableFill:
	default:
		return
	}
	w := e.w
	e.b = putU32(append(e.b, opGlobalSet), w.bulkGlobal())
	e.get()
	b := putU32(append(e.b, opGlobalGet), w.bulkGlobal())
	b = putS64(append(b, opI64ExtendI32, opI64Const), shift)
	e.b = append(b, opI64ShrU, opI64Sub)
	if e.f.keeps {
		e.b = putU32(append(e.b, opLocalSet), e.fuel)
	} else {
		e.b = putU32(append(e.b, opGlobalSet), w.fuelGlobal())
	}
	e.charge(1)
	e.b = putU32(append(e.b, opGlobalGet), w.bulkGlobal())
}

// enter adds this function's weight to the depth before a call, and leave subtracts
// it afterwards. A trap leaves the depth unchanged.
func (e *emitter) enter() {
	b, depth := e.b, e.w.depthGlobal()
	b = putU32(append(b, opGlobalGet), depth)
	b = putS64(append(b, opI32Const), int64(e.f.weight))
	b = append(b, opI32Add)
	b = putU32(append(b, opGlobalSet), depth)
	b = putU32(append(b, opGlobalGet), depth)
	b = putS64(append(b, opI32Const), int64(e.w.limits.Depth))
	e.b = append(b, opI32GtU, opIf, 0x40, opUnreachable, opEnd)
}

func (e *emitter) leave() {
	b, depth := e.b, e.w.depthGlobal()
	b = putU32(append(b, opGlobalGet), depth)
	b = putS64(append(b, opI32Const), int64(e.f.weight))
	b = append(b, opI32Sub)
	e.b = putU32(append(b, opGlobalSet), depth)
}
