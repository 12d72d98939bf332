package meter

import "slices"

// maxTight is how many loops of a function may be written as two nested loops.
const maxTight = 64

// keeps reports whether a function keeps its fuel in a local. It does if it has a
// loop without calls, where that saves a load and a store per iteration.
func keeps(s Signature, loops []region) bool {
	return len(s.Results) <= 1 && slices.ContainsFunc(loops, func(r region) bool { return !r.calls })
}

// tight reports whether the function's n-th loop is written as two nested loops.
// That applies to loops without calls and without inner loops.
func (f *frame) tight(r region, n int) bool {
	return f.keeps && !r.calls && !r.outer && !r.takes && n <= maxTight
}

// load copies the fuel from the global to the local, save from the local to the
// global.
func (e *emitter) load() {
	e.b = putU32(append(e.b, opGlobalGet), e.w.fuelGlobal())
	e.b = putU32(append(e.b, opLocalSet), e.fuel)
}

func (e *emitter) save() {
	e.b = putU32(append(e.b, opLocalGet), e.fuel)
	e.b = putU32(append(e.b, opGlobalSet), e.w.fuelGlobal())
}

// get pushes the remaining fuel.
func (e *emitter) get() {
	if e.f.keeps {
		e.b = putU32(append(e.b, opLocalGet), e.fuel)
	} else {
		e.b = putU32(append(e.b, opGlobalGet), e.w.fuelGlobal())
	}
}

// less pushes the remaining fuel minus a cost.
func (e *emitter) less(cost uint32) {
	e.get()
	e.b = append(putS64(append(e.b, opI64Const), int64(cost)), opI64Sub)
}

// charge deducts cost from the fuel and calls the safepoint when none is left. The
// branch around the safepoint comes first: at a join the compiler assigns registers
// as on the first branch, and a call preserves none.
func (e *emitter) charge(cost uint32) {
	e.less(cost)
	e.b = putU32(append(e.b, opLocalTee), e.fuel)
	if !e.f.keeps {
		e.b = putU32(append(e.b, opGlobalSet), e.w.fuelGlobal())
		e.b = putU32(append(e.b, opLocalGet), e.fuel)
	}
	e.b = append(e.b, opI64Const, 0, opI64GeS, opIf, 0x40, opElse)
	if e.f.keeps {
		e.save()
	}
	e.safepoint()
	if e.f.keeps {
		e.load()
	}
	e.b = append(e.b, opEnd)
}

// safepoint calls the host, which refills the global, or stops the module.
func (e *emitter) safepoint() {
	e.b = putU32(append(e.b, opCall), e.w.imported)
	e.b = append(e.b, opIf, 0x40, opUnreachable, opEnd)
}

// loop begins a loop. A tight loop is written as two nested loops: the outer one
// makes sure that there is fuel for an iteration, and the inner one exits to it when
// there is not. The inner loop then contains no call, and the compiler keeps its
// values in registers.
func (e *emitter) loop(raw []byte) {
	e.loops++
	r := e.f.regions[e.loops]
	cost := max(r.cost, 1)
	if !e.f.tight(r, e.loops) {
		e.nest(0)
		e.b = append(e.b, raw...)
		e.charge(cost)
		return
	}
	e.nest(1)
	e.b = append(e.b, raw...)
	e.get()
	e.b = putS64(append(e.b, opI64Const), int64(cost))
	e.b = append(e.b, opI64GeS, opIf, 0x40, opElse)
	e.less(cost)
	e.b = putU32(append(e.b, opGlobalSet), e.w.fuelGlobal())
	e.safepoint()
	e.b = putU32(append(e.b, opGlobalGet), e.w.fuelGlobal())
	e.b = putS64(append(e.b, opI64Const), int64(cost))
	e.b = append(e.b, opI64Add)
	e.b = putU32(append(e.b, opLocalSet), e.fuel)
	e.b = append(e.b, opEnd)
	e.b = append(e.b, raw...)
	e.get()
	e.b = putS64(append(e.b, opI64Const), int64(cost))
	e.b = append(e.b, opI64GeS, opIf, 0x40, opElse, opBr, 2, opEnd)
	e.less(cost)
	e.b = putU32(append(e.b, opLocalSet), e.fuel)
}
