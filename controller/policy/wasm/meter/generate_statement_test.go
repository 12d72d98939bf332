package meter

// countDown ends the module when its steps are used up.
func (g *generator) countDown() {
	g.emit(opGlobalGet, globalSteps, opI32Const, 1, opI32Sub, opGlobalSet, globalSteps)
	g.emit(opGlobalGet, globalSteps, opI32Const, 0, 0x48, opIf, 0x40, opUnreachable, opEnd) // i32.lt_s
}

func (g *generator) statements() {
	for range 1 + g.next(5) {
		g.statement()
	}
}

func (g *generator) statement() {
	if g.depth > 4 || len(g.entropy) == 0 {
		g.emit(0x01) // nop
		return
	}
	g.depth++
	defer func() { g.depth-- }()
	switch g.next(16) {
	case 0, 1:
		i := g.next(len(g.locals))
		g.expression(g.locals[i])
		g.emitU32(0x21, i) // local.set
	case 2:
		i := g.next(4)
		g.expression(valueTypes()[i])
		g.canonical(valueTypes()[i])
		g.emit(opGlobalSet, byte(globalValues+i))
	case 3, 4:
		g.store()
	case 5, 6:
		g.expression(genI32)
		g.open(opIf, 0x40)
		g.statements()
		if g.next(2) == 0 {
			g.emit(opElse)
			g.statements()
		}
		g.end()
	case 7:
		g.open(opBlock, 0x40)
		g.statements()
		g.end()
	case 8, 9:
		g.open(opLoop, 0x40)
		g.countDown()
		g.statements()
		g.expression(genI32)
		g.emit(opBrIf, 0)
		g.end()
	case 10:
		g.branch()
	case 11:
		g.call(g.next(len(g.functions)))
	case 12:
		g.indirect()
	case 13:
		g.bulk()
	case 14:
		g.expression(genI32)
		g.emit(opMemoryGrow, 0, 0x1a) // drop
	default:
		g.expression(g.typ())
		g.emit(0x1a)
	}
}

func (g *generator) open(op, typ byte) {
	g.emit(op, typ)
	g.labels++
}

func (g *generator) end() {
	g.emit(opEnd)
	g.labels--
}

// branch leaves for a block around, or the function: not for blocks that leave
// a value, of which there are none around statements.
func (g *generator) branch() {
	if g.next(6) == 0 {
		for _, typ := range g.result {
			g.expression(typ)
			g.canonical(typ)
		}
		g.emit(opReturn)
		return
	}
	if g.labels == 0 {
		return
	}
	to := func() int { return g.next(g.labels) }
	switch g.next(8) {
	case 0, 1:
		g.emitU32(opBr, to())
	case 2:
		g.expression(genI32)
		g.emit(opBrTable, 2)
		for range 3 {
			g.out = appendU32(g.out, uint32(to()))
		}
	case 3:
		g.emit(opUnreachable)
	default:
		g.expression(genI32)
		g.emitU32(opBrIf, to())
	}
}

func (g *generator) call(fn int) {
	t := g.signature[g.functions[fn]]
	for _, p := range t.params {
		g.expression(p)
	}
	g.emitU32(opCall, fn)
	for range t.results {
		g.emit(0x1a)
	}
}

// indirect calls what is in the table: a function of the type, of another, or
// nothing.
func (g *generator) indirect() {
	at := g.next(len(g.signature))
	t := g.signature[at]
	for _, p := range t.params {
		g.expression(p)
	}
	g.emit(opI32Const, byte(g.next(10)))
	g.emitU32(opCallIndirect, at)
	g.emit(0)
	for range t.results {
		g.emit(0x1a)
	}
}

func (g *generator) bulk() {
	for range 2 {
		g.address()
	}
	switch g.next(5) {
	case 0:
		g.emit(opI32Const, byte(g.next(64)), opMisc, 10, 0, 0) // memory.copy
	case 1:
		g.emit(opI32Const, byte(g.next(8)), opMisc, 8, 0, 0) // memory.init
	case 2:
		g.emit(0x1a, 0x1a, opMisc, 9, 0) // data.drop
	case 3:
		g.emit(0x1a, 0x1a, opI32Const, byte(g.next(12)), opI32Const, byte(g.next(12)), opI32Const, byte(g.next(4)), opMisc, 14, 0, 0) // table.copy
	default:
		g.emit(opI32Const, byte(g.next(64)), opMisc, 11, 0) // memory.fill
	}
}
