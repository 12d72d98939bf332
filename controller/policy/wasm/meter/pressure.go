package meter

import "fmt"

// The cost of compilation, in units of about one microsecond of processor time. The
// values were measured by compiling the most expensive modules of many shapes
// (docs/measurements/policies.md). Calls cost most, because registers are saved
// around each.
const (
	functionWeight = 10
	blockWeight    = 5
	callWeight     = 60
	chargeWeight   = 100 // bulk operations and memory.grow, with the call for fuel
	bytesPerUnit   = 4
	blockShare     = 32 // blocks that weigh as much as a slot
)

// Blocks that the rewriting adds to those of a function.
const (
	chargeBlocks = 3 // a charge: fuel left, none left, stop
	deepBlocks   = 1 // a call that is counted: too deep
	tightBlocks  = 7 // a loop that is written as two
)

// weigh refuses modules that would take too long to compile. It needs the results of
// settle.
func (w *rewriter) weigh() error {
	m := w.module
	for i := range w.frames {
		f := &w.frames[i]
		f.blocks += w.added(f)
		weight := f.pressure()
		if weight > w.limits.Pressure {
			return fmt.Errorf("function %d: too complex to compile: %d bytes with %d slots, %d calls, %d loops and %d blocks, those for metering among them, weigh %d, at most %d is allowed",
				int(w.imported)+i, f.bytes, f.slots, len(f.calls)+f.tables, f.loops(), f.blocks, weight, w.limits.Pressure)
		}
		m.Pressure = max(m.Pressure, weight)
		if m.Total += weight; m.Total > w.limits.Total {
			return w.limits.tooHeavy()
		}
	}
	return nil
}

func (l Limits) tooHeavy() error {
	return fmt.Errorf("too complex to compile: all functions together weigh more than %d", l.Total)
}

// added returns the number of blocks that metering adds to a function.
func (w *rewriter) added(f *frame) int {
	n := chargeBlocks * (1 + f.charges)
	for i, r := range f.regions[1:] {
		if f.tight(r, i+1) {
			n += tightBlocks
		} else {
			n += chargeBlocks
		}
	}
	for _, c := range f.calls {
		if w.frame(c.fn).deep() {
			n += deepBlocks
		}
	}
	return n + deepBlocks*f.tables
}

// pressure estimates the cost of compiling the function. Part of it grows with the
// code. The compiler's liveness analysis grows with slots × blocks, and its
// dominator search with loops × blocks and, more slowly, with the square of the
// blocks.
func (f *frame) pressure() int {
	calls := len(f.calls) + f.tables + 1 + f.loops() // each of the last two calls for fuel
	return functionWeight + f.bytes/bytesPerUnit + callWeight*calls + chargeWeight*f.charges +
		blockWeight*f.blocks + (f.slots+f.loops()+f.blocks/blockShare)*f.blocks/2
}

func (f *frame) loops() int { return len(f.regions) - 1 }
