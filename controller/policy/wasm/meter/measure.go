package meter

import (
	"errors"
	"fmt"
)

// frame is what the first pass finds out about a function.
//
// Size: what one pass over a function finds and the next one reads.
type frame struct {
	signature      Signature
	params, locals int
	// slots is the number of parameters, locals and operands at the deepest stack.
	slots  int
	bytes  int // of the body
	blocks int
	// charges is the number of instructions with a charge of their own.
	charges int
	// regions are the function's straight code and then every loop, in the order in
	// which they open.
	regions []region
	calls   []callSite
	// tables is the number of calls through a table.
	tables int
	// variable: it has instructions whose cost depends on their operands. led: all
	// code before its first loop leads to that loop. small: its callers pay for it.
	// keeps: it keeps its fuel in a local.
	variable, led, small, keeps bool
	decided                     bool // about led
	// weight is how many frames of depth a call counts for. Every value that the
	// function computes, and every local where branches join, may get a place of its
	// own in its stack frame.
	weight uint32
	// height is the largest number of frames that a call adds, 0 if unknown.
	height uint32
}

// region is a part of a function that is paid for at once: its straight code, or one
// iteration of a loop without the loops in it.
type region struct {
	cost uint32
	// calls: it, or a loop in it, calls other functions. outer: it contains loops.
	// takes: the loop has parameters.
	calls, outer, takes bool
}

// callSite is a direct call of a function.
type callSite struct {
	fn     uint32
	region int
}

var errUnderflow = errors.New("operand stack underflow")

// control is an open block: its stack height at start and end, and the region that
// pays for its code.
type control struct {
	base, params, results int
	region                int
	dead                  bool // after an unconditional branch
}

// gauge tracks the height of the operand stack through a function. It is exact for
// valid code. The engine refuses invalid code later.
type gauge struct {
	height, deepest int
	pushed          int // values in all
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
	g.pushed += push
	g.deepest = max(g.deepest, g.height)
	return nil
}

// label reads the index of an open block. An index beyond the function is refused:
// it would refer to the block that the rewriting puts around the body.
func (g *gauge) label(r *reader) {
	if n := r.u32(); int64(n) >= int64(len(g.open)) {
		r.failf("no block %d", n)
	}
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

// leave ends the innermost block and returns the region of the code after it.
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
	f := frame{signature: s, bytes: len(body), params: len(s.Params), blocks: 1, regions: make([]region, 1)}
	if len(body) > w.limits.Body {
		return f, fmt.Errorf("body of %d bytes, at most %d are allowed", len(body), w.limits.Body)
	}
	r := &reader{b: body}
	for range r.count(2) {
		n := r.u32()
		r.valueType()
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
	}
	if r.err == nil && !r.done() {
		r.failf("%d bytes after the end", len(r.b)-r.at)
	}
	f.keeps = keeps(s, f.regions[1:])
	f.weight = 1 + uint32((g.pushed+(f.params+f.locals+1)*f.blocks)/frameValues)
	return f, r.err
}

// step measures one instruction and returns the region of the next.
func (w *rewriter) step(r *reader, op byte, g *gauge, f *frame, at int) (int, error) {
	switch op {
	case opBlock, opLoop, opIf:
		s, err := w.blockType(r)
		if err != nil {
			return at, err
		}
		f.blocks++
		if op == opIf {
			f.regions[at].cost++
			f.leads(false)
			if err := g.move(1, 0); err != nil {
				return at, err
			}
		}
		if op == opLoop {
			f.leads(true)
			f.regions = append(f.regions, region{takes: len(s.Params) > 0})
			at = len(f.regions) - 1
		}
		return at, g.enter(s, at)
	case opElse:
		f.blocks++
		g.otherwise()
		return at, nil
	case opEnd:
		next := g.leave()
		if next != at {
			f.regions[next].outer = true
			f.regions[next].calls = f.regions[next].calls || f.regions[at].calls
		}
		return next, nil
	}
	begun := r.at
	if err := w.plain(r, op, g, f); err != nil {
		return at, err
	}
	f.count(op, at, &reader{b: r.b, at: begun})
	return at, nil
}

// count adds an instruction that opens or closes no block to its region.
func (f *frame) count(op byte, at int, operands *reader) {
	f.regions[at].cost++
	switch op {
	case opCall:
		f.regions[at].cost += callCost
		f.regions[at].calls = true
		f.calls = append(f.calls, callSite{operands.u32(), at})
	case opCallIndirect:
		f.regions[at].cost += callCost + smallCost
		f.regions[at].calls = true
		f.tables++
	case opMemoryGrow:
		f.charges++
		f.variable = true
	case opMisc:
		if operands.u32() >= miscMemoryInit {
			f.charges++
			f.variable = true
		}
	case opUnreachable, opBr, opBrIf, opBrTable, opReturn:
	default:
		return
	}
	f.leads(false)
}

// leads records that a loop, or another instruction that decides led, is reached.
func (f *frame) leads(loop bool) {
	if len(f.regions) == 1 && !f.decided {
		f.led, f.decided = loop, true
	}
}

// blockType is the signature of a block.
func (w *rewriter) blockType(r *reader) (Signature, error) {
	begun := *r
	switch t := r.s33(); {
	case t == -64 && r.at == begun.at+1: // no result
		return Signature{}, nil
	case t < 0: // one value type
		*r = begun
		r.valueType()
		return Signature{Results: I32}, nil
	case t < int64(len(w.types)):
		return w.types[t], nil
	default:
		return Signature{}, fmt.Errorf("no type %d", t)
	}
}
