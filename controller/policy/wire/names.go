package wire

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unsafe"

	"spokeshave.dev/sdk/abi"
)

// names numbers the strings of a batch. Catalogue strings come first and keep their
// ids while the generation stays the same. The strings of one call follow and are
// removed after it. Id 0 is the empty string.
type names struct {
	generation uint64
	ids        map[string]uint32
	list       []string
	// index and text are the encoded strings.
	index, text []byte
	stable      int // strings of the catalogue
	stableText  int // their bytes
	// rows are the ids of the last batch's rows. The next batch usually has the same
	// offerings, and comparing strings is faster than hashing them.
	rows []rowNames
}

// rowNames are the catalogue strings of a row with their ids.
type rowNames struct {
	typ, family, zone       string
	typID, familyID, zoneID uint32
}

// begin starts a batch. Generation 0 means no catalogue: no ids are kept.
func (n *names) begin(generation uint64) {
	if n.ids != nil && generation == n.generation && n.stable < maxRows {
		if generation == 0 {
			n.rows = n.rows[:0]
		}
		return
	}
	*n = names{generation: generation, ids: map[string]uint32{}}
	n.call("")
	n.stable = 1
}

// end removes the strings of the call.
func (n *names) end() {
	for _, s := range n.list[n.stable:] {
		delete(n.ids, s)
	}
	clear(n.list[n.stable:])
	n.list = n.list[:n.stable]
	n.index, n.text = n.index[:n.stable*abi.IndexStride], n.text[:n.stableText]
}

// catalogue returns the id of a catalogue string. All catalogue strings of a batch
// must be numbered before its other strings.
func (n *names) catalogue(s string) uint32 {
	id := n.call(s)
	if int(id) == n.stable && n.generation != 0 {
		n.stable++
		n.stableText = len(n.text)
	}
	return id
}

// call returns the id of a string that is removed after this call.
func (n *names) call(s string) uint32 {
	id, ok := n.ids[s]
	if !ok {
		id = uint32(len(n.list))
		n.ids[s] = id
		n.list = append(n.list, s)
		n.index = appendU32(appendU32(n.index, uint32(len(n.text))), uint32(len(s)))
		n.text = append(n.text, s...)
	}
	return id
}

// row returns the ids of row i of a rank batch.
func (n *names) row(i int, typ, family, zone string) *rowNames {
	if i >= len(n.rows) {
		n.rows = append(n.rows, rowNames{})
	}
	r := &n.rows[i]
	if !same(r.typ, typ) {
		r.typ, r.typID = typ, n.catalogue(typ)
	}
	if !same(r.family, family) {
		r.family, r.familyID = family, n.catalogue(family)
	}
	if !same(r.zone, zone) {
		r.zone, r.zoneID = zone, n.catalogue(zone)
	}
	return r
}

// same reports whether two strings are equal. It first compares their addresses,
// since catalogue strings are shared between decisions.
func same(a, b string) bool {
	return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b) || a == b
}

// Clean makes a guest's text safe for logs, events and terminals: valid UTF-8, one
// line, no control characters, at most abi.MaxMessage bytes.
func Clean(text []byte) string {
	text = text[:min(len(text), abi.MaxMessage)]
	plain := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "?"))
	plain = strings.TrimSpace(plain)
	for len(plain) > abi.MaxMessage { // replacement runes may be longer than the bytes they replace
		plain = strings.ToValidUTF8(plain[:abi.MaxMessage], "")
	}
	return plain
}

func appendU32(b []byte, n uint32) []byte { return binary.LittleEndian.AppendUint32(b, n) }
