package meter

// Value types of generated modules.
const (
	genI32 = 0x7f
	genI64 = 0x7e
	genF32 = 0x7d
	genF64 = 0x7c
)

// generator makes a valid module of any bytes: functions that compute, branch,
// loop, call each other, directly and through a table, use memory, and trap at
// times. Every module ends: functions and loops count down a global of its own
// and trap at 0. Equal bytes give equal modules.
type generator struct {
	entropy   []byte
	signature []genType
	functions []int // of signature
	// Of the function at hand:
	out    []byte
	locals []byte // types, parameters first
	labels int    // blocks around the place
	result []byte // types of the function's results
	depth  int    // of the expression or statement
}

type genType struct{ params, results []byte }

// Globals of a generated module: the steps left, then one of each value type.
const (
	globalSteps  = 0
	globalValues = 1
)

func valueTypes() []byte { return []byte{genI32, genI64, genF32, genF64} }

// next is a number below n, 0 when the entropy is used up.
func (g *generator) next(n int) int {
	if len(g.entropy) == 0 {
		return 0
	}
	b := g.entropy[0]
	g.entropy = g.entropy[1:]
	return int(b) % n
}

func (g *generator) emit(code ...byte)      { g.out = append(g.out, code...) }
func (g *generator) emitU32(op byte, n int) { g.out = appendU32(append(g.out, op), uint32(n)) }
func (g *generator) typ() byte              { return valueTypes()[g.next(4)] }

func (g *generator) types(most int) []byte {
	var out []byte
	for range g.next(most + 1) {
		out = append(out, g.typ())
	}
	return out
}

// generate makes the module. Its functions are exported as f0, f1, …
func generate(entropy []byte) []byte {
	g := &generator{entropy: entropy}
	for range 1 + g.next(4) {
		g.signature = append(g.signature, genType{g.types(3), g.types(2)})
	}
	for range 1 + g.next(5) {
		g.functions = append(g.functions, g.next(len(g.signature)))
	}
	var types, functions, exports, elements, code [][]byte
	for _, s := range g.signature {
		types = append(types, cat([]byte{0x60}, vector(s.params), vector(s.results)))
	}
	bodies := len(g.functions)
	share := len(g.entropy) / bodies
	for i, t := range g.functions {
		functions = append(functions, appendU32(nil, uint32(t)))
		exports = append(exports, cat([]byte{2, 'f', byte('0' + i), 0}, appendU32(nil, uint32(i))))
		elements = append(elements, appendU32(nil, uint32(i)))
		rest := g.entropy[min(share, len(g.entropy)):]
		g.entropy = g.entropy[:min(share, len(g.entropy))]
		code = append(code, g.function(g.signature[t]))
		g.entropy = rest
	}
	exports = append(exports, []byte("\x06memory\x02\x00"))
	for i := range 5 {
		exports = append(exports, []byte{2, 'g', byte('0' + i), 3, byte(i)})
	}
	global := func(typ byte, value ...byte) []byte { return cat([]byte{typ, 1}, value, []byte{opEnd}) }
	globals := [][]byte{
		global(genI32, opI32Const, 0xe8, 0x07), global(genI32, opI32Const, 7), global(genI64, opI64Const, 9),
		global(genF32, append([]byte{0x43}, make([]byte, 4)...)...), global(genF64, append([]byte{0x44}, make([]byte, 8)...)...),
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		id   byte
		body []byte
	}{
		{1, list(types)},
		{3, list(functions)},
		{4, []byte{1, 0x70, 1, 8, 12}}, // a table of 8 to 12
		{5, []byte{1, 1, 1, 3}},        // a memory of 1 to 3 pages
		{6, list(globals)},
		{7, list(exports)},
		{9, cat([]byte{1, 0, opI32Const, 1, opEnd}, list(elements))}, // from element 1
		{12, []byte{1}},
		{10, list(code)},
		{11, []byte("\x01\x01\x05hello")}, // a passive segment
	} {
		out = cat(out, []byte{s.id}, appendU32(nil, uint32(len(s.body))), s.body)
	}
	return out
}

func (g *generator) function(t genType) []byte {
	g.out, g.labels, g.depth, g.result = nil, 0, 0, t.results
	g.locals = append([]byte(nil), t.params...)
	g.locals = append(g.locals, valueTypes()...)
	g.countDown()
	g.statements()
	for _, r := range t.results {
		g.expression(r)
		g.canonical(r)
	}
	g.emit(opEnd)
	declared := [][]byte{}
	for _, l := range g.locals[len(t.params):] {
		declared = append(declared, []byte{1, l})
	}
	body := cat(list(declared), g.out)
	return cat(appendU32(nil, uint32(len(body))), body)
}
