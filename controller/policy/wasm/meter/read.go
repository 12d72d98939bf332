package meter

import (
	"fmt"
	"strings"
)

// rewriter is the state of both passes over a module.
//
// Size: one method for each section of a module, for reading and for writing.
type rewriter struct {
	limits   Limits
	sections *[sections][]byte
	module   *Module

	types     []Signature
	functions []uint32 // type of every function, imported ones first
	imported  uint32   // imported functions
	globals   uint32
	frames    []frame
	exported  map[uint32]bool // functions that the host may call
}

// section reads one section with f, if the module has it.
func (w *rewriter) section(id byte, name string, f func(r *reader)) error {
	if w.sections[id] == nil {
		return nil
	}
	r := &reader{b: w.sections[id]}
	f(r)
	if r.err == nil && !r.done() {
		r.failf("%d bytes too many", len(r.b)-r.at)
	}
	if r.err != nil {
		return fmt.Errorf("%s: %w", name, r.err)
	}
	return nil
}

// read reads all sections and measures every function.
func (w *rewriter) read() error {
	steps := []struct {
		id   byte
		name string
		f    func(*reader)
	}{
		{secType, "types", w.readTypes},
		{secImport, "imports", w.readImports},
		{secFunction, "functions", w.readFunctions},
		{secTable, "tables", w.readTables},
		{secGlobal, "globals", func(r *reader) { w.globals = uint32(entries(r, 3, w.limits.Entries)); r.at = len(r.b) }},
		{secExport, "exports", w.readExports},
		{secCode, "code", w.readCode},
	}
	for _, s := range steps {
		if err := w.section(s.id, s.name, s.f); err != nil {
			return err
		}
	}
	if len(w.frames) != len(w.functions)-int(w.imported) {
		return fmt.Errorf("code: %d bodies for %d functions", len(w.frames), len(w.functions)-int(w.imported))
	}
	w.settle()
	if err := w.weigh(); err != nil {
		return fmt.Errorf("code: %w", err)
	}
	return nil
}

// entries reads the number of entries of a section, of so many bytes each at least, and
// limits it: an entry takes a few bytes in the module and a hundred times as many in the
// engine.
func entries(r *reader, size, most int) int {
	n := r.count(size)
	if n > most {
		r.failf("%d entries, at most %d are allowed", n, most)
		return 0
	}
	return n
}

// readTypes limits the types, and their values together: for each value of a type the
// engine makes a part of its name, and code that hands the value over.
func (w *rewriter) readTypes(r *reader) {
	values := 0
	for range entries(r, 3, w.limits.Entries) {
		if form := r.byte(); form != 0x60 && r.err == nil {
			r.failf("type form %#x is not supported", form)
		}
		s := Signature{r.types(), r.types()}
		if max(len(s.Params), len(s.Results)) > w.limits.Signature {
			r.failf("function type %d has more than %d parameters or results", len(w.types), w.limits.Signature)
		}
		if values += len(s.Params) + len(s.Results); values > w.limits.Values {
			r.failf("all function types together have more than %d parameters and results", w.limits.Values)
		}
		if r.err != nil {
			return
		}
		w.types = append(w.types, s)
	}
}

func (w *rewriter) readImports(r *reader) {
	for range entries(r, 4, w.limits.Imports) {
		module, name := r.name(), r.name()
		kind, typ := r.byte(), r.u32()
		switch {
		case r.err != nil:
			return
		case Kind(kind) != KindFunc:
			r.failf("%s.%s: only functions can be imported", module, name)
		case int64(typ) >= int64(len(w.types)):
			r.failf("%s.%s: no type %d", module, name, typ)
		default:
			w.module.Imports = append(w.module.Imports, Import{module, name, w.types[typ]})
			w.functions = append(w.functions, typ)
			w.imported++
		}
	}
}

func (w *rewriter) readFunctions(r *reader) {
	for range r.count(1) {
		typ := r.u32()
		if int64(typ) >= int64(len(w.types)) {
			r.failf("no type %d", typ)
			return
		}
		w.functions = append(w.functions, typ)
	}
}

// readTables limits the tables, which use the host's memory and are not covered by
// the guest's memory limit.
func (w *rewriter) readTables(r *reader) {
	n := r.count(3)
	if n > 8 {
		r.failf("%d tables, at most 8 are allowed", n)
	}
	for i := range n {
		r.referenceType()
		least, _ := limit(r)
		if least > w.limits.Table {
			r.failf("table %d has %d elements, at most %d are allowed", i, least, w.limits.Table)
		}
	}
}

// limit reads a minimum size and, if present, a maximum.
func limit(r *reader) (least uint32, most *uint32) {
	flag := r.byte()
	if flag > 1 {
		r.failf("limits %#x (shared or 64-bit) are not supported", flag)
	}
	least = r.u32()
	if flag == 1 {
		n := r.u32()
		most = &n
	}
	return least, most
}

// MostPages returns how many pages of memory an instance of a module may have that Rewrite has
// returned, 0 if it has no memory.
func MostPages(module []byte) uint32 {
	all, err := split(module)
	if err != nil || all[secMemory] == nil {
		return 0
	}
	r := &reader{b: all[secMemory]}
	if r.u32() == 0 {
		return 0
	}
	if _, most := limit(r); most != nil && r.err == nil {
		return *most
	}
	return 0
}

func (w *rewriter) readExports(r *reader) {
	w.exported = map[uint32]bool{}
	for range entries(r, 3, w.limits.Entries) {
		e := Export{Name: r.name(), Kind: Kind(r.byte())}
		index := r.u32()
		switch {
		case r.err != nil:
			return
		case strings.HasPrefix(e.Name, reserved):
			r.failf("%s: names that start with %s are reserved", e.Name, reserved)
		case e.Kind == KindFunc && int64(index) >= int64(len(w.functions)):
			r.failf("%s: no function %d", e.Name, index)
		case e.Kind == KindGlobal && index >= w.globals:
			r.failf("%s: no global %d", e.Name, index)
		case e.Kind == KindFunc:
			e.Type = w.types[w.functions[index]]
			w.exported[index] = true
		case e.Kind > KindGlobal:
			r.failf("%s: export kind %d is not supported", e.Name, e.Kind)
		}
		w.module.Exports = append(w.module.Exports, e)
	}
}

func (w *rewriter) readCode(r *reader) {
	m, least := w.module, 0
	for i := range r.count(2) {
		body := r.take(r.u32())
		fn := int(w.imported) + i
		if r.err != nil {
			return
		}
		if fn >= len(w.functions) {
			r.failf("a body without a function")
			return
		}
		f, err := w.measure(w.types[w.functions[fn]], body)
		if err != nil {
			r.failf("function %d: %w", fn, err)
			return
		}
		if least += f.pressure(); least > w.limits.Total { // without what metering adds, but before there are too many to hold
			r.fail(w.limits.tooHeavy())
			return
		}
		w.frames = append(w.frames, f)
		m.Functions++
		m.Loops += f.loops()
		m.Slots = max(m.Slots, f.slots)
	}
}
