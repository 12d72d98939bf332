package meter

import (
	"errors"
	"fmt"
)

// frame is what the first pass learns of a function.
type frame struct {
	signature      Signature
	params, locals int
	// slots are parameters, locals and the deepest operand stack.
	slots  int
	blocks int
	// costs has the instructions of the function's own straight code and of
	// every loop, in the order in which they open, nested loops apart.
	costs []uint32
}

// pressure is what compiling the function costs, roughly: the compiler's
// liveness grows with slots × blocks, its dominator search with loops × blocks
// and, more slowly, with the square of the blocks.
func (f *frame) pressure() int { return (f.slots + f.loops() + f.blocks/blockShare) * f.blocks }

func (f *frame) loops() int { return len(f.costs) - 1 }

// weight is how many frames of depth a call of the function counts for.
func (f *frame) weight() uint32 { return 1 + uint32(f.slots/frameSlots) }

var errUnderflow = errors.New("operand stack underflow")

// control is an open block: the stack height at its start and end, and the
// region that pays for the code around it.
type control struct {
	base, params, results int
	region                int
	dead                  bool // after an unconditional branch
}

// gauge follows the height of the operand stack through a function. For valid
// code it is exact; what is invalid is left to the engine to refuse.
type gauge struct {
	height, deepest int
	open            []control
}

func (g *gauge) top() *control { return &g.open[len(g.open)-1] }

func (g *gauge) move(pop, push int) error {
	top := g.top()
	g.height -= pop
	if g.height < top.base {
		if !top.dead {
			return errUnderflow
		}
		g.height = top.base
	}
	g.height += push
	g.deepest = max(g.deepest, g.height)
	return nil
}

// stop marks the rest of the block as unreachable.
func (g *gauge) stop() {
	g.top().dead = true
	g.height = g.top().base
}

func (g *gauge) enter(s Signature, region int) error {
	if err := g.move(len(s.Params), 0); err != nil {
		return err
	}
	g.open = append(g.open, control{base: g.height, params: len(s.Params), results: len(s.Results), region: region})
	return g.move(0, len(s.Params))
}

// otherwise begins the else branch of the innermost block.
func (g *gauge) otherwise() {
	top := g.top()
	top.dead = false
	g.height = top.base + top.params
}

// leave ends the innermost block and gives the region that goes on.
func (g *gauge) leave() int {
	top := g.top()
	g.height = top.base + top.results
	g.deepest = max(g.deepest, g.height)
	g.open = g.open[:len(g.open)-1]
	if len(g.open) == 0 {
		return 0
	}
	return g.top().region
}

// measure is the first pass over a function body.
func (w *rewriter) measure(s Signature, body []byte) (frame, error) {
	f := frame{signature: s, params: len(s.Params), blocks: 1, costs: []uint32{0}}
	if len(body) > w.limits.Body {
		return f, fmt.Errorf("body of %d bytes, at most %d are allowed", len(body), w.limits.Body)
	}
	r := &reader{b: body}
	for range r.count(2) {
		n := r.u32()
		r.byte()
		if uint64(f.locals)+uint64(n) > uint64(w.limits.Slots) {
			return f, fmt.Errorf("more than %d locals", w.limits.Slots)
		}
		f.locals += int(n)
	}
	g := &gauge{open: []control{{results: len(s.Results)}}}
	region := 0
	for len(g.open) > 0 && r.err == nil {
		at := r.at
		op := r.byte()
		next, err := w.step(r, op, g, &f, region)
		if err == nil {
			err = r.err
		}
		if err != nil {
			return f, fmt.Errorf("byte %d, opcode %#x: %w", at, op, err)
		}
		region = next
		f.slots = f.params + f.locals + g.deepest
		if f.slots > w.limits.Slots {
			return f, fmt.Errorf("more than %d parameters, locals and operands", w.limits.Slots)
		}
		if f.pressure() > w.limits.Pressure {
			return f, fmt.Errorf("too complex to compile: %d slots, %d loops and %d blocks weigh %d, at most %d is allowed",
				f.slots, f.loops(), f.blocks, f.pressure(), w.limits.Pressure)
		}
	}
	if r.err == nil && !r.done() {
		r.failf("%d bytes after the end", len(r.b)-r.at)
	}
	return f, r.err
}

// step measures one instruction and gives the region of the next.
func (w *rewriter) step(r *reader, op byte, g *gauge, f *frame, region int) (int, error) {
	switch op {
	case opBlock, opLoop, opIf:
		s, err := w.blockType(r)
		if err != nil {
			return region, err
		}
		f.blocks++
		if op == opIf {
			f.costs[region]++
			if err := g.move(1, 0); err != nil {
				return region, err
			}
		}
		if op == opLoop {
			f.costs = append(f.costs, 0)
			region = len(f.costs) - 1
		}
		return region, g.enter(s, region)
	case opElse:
		f.blocks++
		g.otherwise()
		return region, nil
	case opEnd:
		return g.leave(), nil
	}
	f.costs[region]++
	if op == opCall || op == opCallIndirect {
		f.costs[region] += callCost
	}
	return region, w.plain(r, op, g, f)
}

// blockType is the signature of a block.
func (w *rewriter) blockType(r *reader) (Signature, error) {
	switch t := r.s33(); {
	case t == -64: // no result
		return Signature{}, nil
	case t < 0: // one value type
		return Signature{Results: I32}, nil
	case t < int64(len(w.types)):
		return w.types[t], nil
	default:
		return Signature{}, fmt.Errorf("no type %d", t)
	}
}
