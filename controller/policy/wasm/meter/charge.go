package meter

import "slices"

// maxTight is how many loops of a function are written as two.
const maxTight = 64

// keeps says whether a function keeps its fuel in a local: if it has a loop
// that calls nothing, where that saves a load and a store at every turn.
func keeps(s Signature, loops []region) bool {
	return len(s.Results) <= 1 && slices.ContainsFunc(loops, func(r region) bool { return !r.calls })
}

// tight says whether the function's n-th loop is written as two, as those are
// that have neither calls nor loops in them.
func (f *frame) tight(r region, n int) bool {
	return f.keeps && !r.calls && !r.outer && !r.takes && n <= maxTight
}

// load gets the fuel from the global, save puts it there.
func (e *emitter) load() {
	e.b = putU32(append(e.b, opGlobalGet), e.w.fuelGlobal())
	e.b = putU32(append(e.b, opLocalSet), e.fuel)
}

func (e *emitter) save() {
	e.b = putU32(append(e.b, opLocalGet), e.fuel)
	e.b = putU32(append(e.b, opGlobalSet), e.w.fuelGlobal())
}

// get pushes the fuel left.
func (e *emitter) get() {
	if e.f.keeps {
		e.b = putU32(append(e.b, opLocalGet), e.fuel)
	} else {
		e.b = putU32(append(e.b, opGlobalGet), e.w.fuelGlobal())
	}
}

// less pushes the fuel less a cost.
func (e *emitter) less(cost uint32) {
	e.get()
	e.b = append(putS64(append(e.b, opI64Const), int64(cost)), opI64Sub)
}

// charge takes cost from the fuel and calls the safepoint when none is left.
// The way around the safepoint comes first: the compiler's registers are as on
// the first way to a place, and a call leaves none of them.
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

// safepoint lets the host refill the global, or stop the module.
func (e *emitter) safepoint() {
	e.b = putU32(append(e.b, opCall), e.w.imported)
	e.b = append(e.b, opIf, 0x40, opUnreachable, opEnd)
}

// loop begins a loop. A tight one becomes two: the outer sees to it that there is fuel for a turn, and the
// inner leaves for it if there is not. So the inner one has no call at all, and
// the compiler keeps everything in registers.
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
