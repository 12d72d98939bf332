package meter

import "fmt"

// simd reads an instruction with prefix 0xfd: fixed-width SIMD. Relaxed SIMD is
// refused, because its results differ between machines.
func simd(r *reader, g *gauge) error {
	sub := r.sub()
	switch {
	case sub <= 11 || sub == 92 || sub == 93: // loads and store
		r.u32()
		r.u32()
		if sub == 11 {
			return g.move(2, 0)
		}
		return g.move(1, 1)
	case sub == 12: // v128.const
		r.take(16)
		return g.move(0, 1)
	case sub == 13: // shuffle
		r.take(16)
		return g.move(2, 1)
	case sub >= 21 && sub <= 34: // lanes
		r.byte()
		if replacesLane(sub) {
			return g.move(2, 1)
		}
		return g.move(1, 1)
	case sub >= 84 && sub <= 91: // load and store of a lane
		r.u32()
		r.u32()
		r.byte()
		if sub >= 88 {
			return g.move(2, 0)
		}
		return g.move(2, 1)
	case sub == 82: // bitselect
		return g.move(3, 1)
	case sub > 255:
		return fmt.Errorf("relaxed SIMD %d is not supported", sub)
	case oneVector(sub):
		return g.move(1, 1)
	}
	return g.move(2, 1)
}

func replacesLane(sub uint32) bool {
	switch sub {
	case 23, 26, 28, 30, 32, 34:
		return true
	}
	return false
}

// oneVector reports whether an instruction has a single operand: splats, unary
// arithmetic, tests, extensions and conversions.
func oneVector(sub uint32) bool {
	switch {
	case sub >= 15 && sub <= 20, sub >= 94 && sub <= 100, sub >= 103 && sub <= 106,
		sub >= 124 && sub <= 129, sub >= 135 && sub <= 138, sub >= 167 && sub <= 170,
		sub >= 199 && sub <= 202, sub >= 248:
		return true
	}
	switch sub {
	case 77, 83, 116, 117, 122, 131, 132, 148, 160, 161, 163, 164, 192, 193, 195, 196, 224, 225, 227, 236, 237, 239:
		return true
	}
	return false
}
