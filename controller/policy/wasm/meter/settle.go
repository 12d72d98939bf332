package meter

// settle decides who pays for what, once every function is measured.
func (w *rewriter) settle() {
	// A function is known when all that it calls is: those that call nothing
	// first, then their callers. What calls itself, or through a table, never is.
	for changed, round := true, 0; changed && round <= shallow; round++ {
		changed = false
		for i := range w.frames {
			if f := &w.frames[i]; f.height == 0 && w.known(f) {
				w.pass(f)
				f.small = w.small(f, w.imported+uint32(i))
				changed = true
			}
		}
	}
	for i := range w.frames {
		f := &w.frames[i]
		if f.height == 0 {
			w.pass(f)
		}
		if own := f.regions[0].cost; f.led && own <= f.regions[1].cost {
			f.regions[1].cost += own
			f.regions[0].cost = 0
		}
	}
}

// known finds the height of a function, if it is not above the limit.
func (w *rewriter) known(f *frame) bool {
	if f.tables > 0 {
		return false
	}
	below := uint32(0)
	for _, c := range f.calls {
		if callee := w.frame(c.fn); callee != nil {
			if callee.height == 0 {
				return false
			}
			below = max(below, callee.height)
		}
	}
	if below+f.weight > shallow {
		return false
	}
	f.height = below + f.weight
	return true
}

// small says whether the callers of a function pay for it: it neither spends
// fuel itself, nor does anything that it calls, nor does the host on its behalf.
func (w *rewriter) small(f *frame, fn uint32) bool {
	for _, c := range f.calls {
		if callee := w.frame(c.fn); callee == nil || !callee.small {
			return false
		}
	}
	return len(f.regions) == 1 && !f.variable && f.regions[0].cost <= smallCost && !w.exported[fn]
}

// pass charges a function for the small ones that it calls.
func (w *rewriter) pass(f *frame) {
	for _, c := range f.calls {
		if callee := w.frame(c.fn); callee != nil && callee.small {
			f.regions[c.region].cost += callee.regions[0].cost
		}
	}
}

// frame is what is known of a function; nil for one of the host.
func (w *rewriter) frame(fn uint32) *frame {
	if fn < w.imported {
		return nil
	}
	return &w.frames[fn-w.imported]
}

// deep says whether calls of a function are counted.
func (f *frame) deep() bool { return f != nil && f.height == 0 }

// spends says whether calling a function may change the fuel.
func (f *frame) spends() bool { return f == nil || !f.small }
