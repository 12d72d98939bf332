package meter

// settle decides which function pays for which code, after all of them are measured.
func (w *rewriter) settle() {
	// The height of a function is known when the heights of all its callees are.
	// Leaf functions come first, then their callers. The height of a function that
	// is recursive or calls through a table stays unknown.
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

// known sets the height of a function and reports whether it is within the limit.
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

// small reports whether the callers of a function pay for it: neither the function
// nor anything that it calls spends fuel, and the host cannot call it.
func (w *rewriter) small(f *frame, fn uint32) bool {
	for _, c := range f.calls {
		if callee := w.frame(c.fn); callee == nil || !callee.small {
			return false
		}
	}
	return len(f.regions) == 1 && !f.variable && f.regions[0].cost <= smallCost && !w.exported[fn]
}

// pass adds the costs of the small functions that a function calls to its own.
func (w *rewriter) pass(f *frame) {
	for _, c := range f.calls {
		if callee := w.frame(c.fn); callee != nil && callee.small {
			f.regions[c.region].cost += callee.regions[0].cost
		}
	}
}

// frame returns the frame of a function; nil for one of the host.
func (w *rewriter) frame(fn uint32) *frame {
	if fn < w.imported {
		return nil
	}
	return &w.frames[fn-w.imported]
}

// deep reports whether calls of a function count against the depth limit.
func (f *frame) deep() bool { return f != nil && f.height == 0 }

// spends reports whether calling a function may change the fuel.
func (f *frame) spends() bool { return f == nil || !f.small }
