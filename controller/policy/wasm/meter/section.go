package meter

import "fmt"

// Section ids of the binary format.
const (
	secCustom    = 0
	secType      = 1
	secImport    = 2
	secFunction  = 3
	secTable     = 4
	secMemory    = 5
	secGlobal    = 6
	secExport    = 7
	secStart     = 8
	secElement   = 9
	secCode      = 10
	secData      = 11
	secDataCount = 12
	sections     = 13
)

// order returns the rank of a section in the order of sections.
func order(id byte) int {
	switch id {
	case secDataCount:
		return 2 * secElement // between elements and code
	case secCode, secData:
		return 2*int(id) + 1
	}
	return 2*int(id) - 1
}

// split divides a module into its sections. It drops the custom sections, whose
// function indexes the rewriting would make wrong.
func split(in []byte) (*[sections][]byte, error) {
	var out [sections][]byte
	r := &reader{b: in, at: 8}
	last := 0
	for !r.done() {
		id := r.byte()
		body := r.take(r.u32())
		switch {
		case r.err != nil:
			return nil, fmt.Errorf("section %d: %w", id, r.err)
		case id == secCustom:
			continue
		case id >= sections:
			return nil, fmt.Errorf("section %d is not supported", id)
		case order(id) <= last:
			return nil, fmt.Errorf("section %d out of order", id)
		}
		last = order(id)
		if body == nil {
			body = []byte{}
		}
		out[id] = body
	}
	return &out, nil
}
