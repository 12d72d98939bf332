package wire

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"unicode"

	"spokeshave.dev/sdk/abi"
)

// names numbers the strings of a batch. Those of the catalogue come first and
// keep their ids while the generation stays; those of one call follow and are
// forgotten after it. Id 0 is the empty string.
type names struct {
	generation uint64
	ids        map[string]uint32
	list       []string
	size       int // bytes of all strings
	stable     int // strings of the catalogue
	stableSize int
}

// begin starts a batch. Generation 0 stands for an unknown catalogue: its ids
// are never kept.
func (n *names) begin(generation uint64) {
	if n.ids != nil && generation == n.generation && generation != 0 && n.stable < maxRows {
		return
	}
	*n = names{generation: generation, ids: map[string]uint32{"": 0}, list: []string{""}, stable: 1}
}

// end forgets the strings of the call.
func (n *names) end() {
	for _, s := range n.list[n.stable:] {
		delete(n.ids, s)
	}
	clear(n.list[n.stable:])
	n.list = n.list[:n.stable]
	n.size = n.stableSize
}

// catalogue is the id of a catalogue string. All of a batch's catalogue
// strings must be numbered before the first of its others.
func (n *names) catalogue(s string) uint32 {
	id := n.call(s)
	if int(id) == n.stable {
		n.stable++
		n.stableSize = n.size
	}
	return id
}

// call is the id of a string that may be forgotten after this call.
func (n *names) call(s string) uint32 {
	id, ok := n.ids[s]
	if !ok {
		id = uint32(len(n.list))
		n.ids[s] = id
		n.list = append(n.list, s)
		n.size += len(s)
	}
	return id
}

func (n *names) appendIndex(b []byte) []byte {
	at := uint32(0)
	for _, s := range n.list {
		b = appendU32(appendU32(b, at), uint32(len(s)))
		at += uint32(len(s))
	}
	return b
}

func (n *names) appendBytes(b []byte) []byte {
	for _, s := range n.list {
		b = append(b, s...)
	}
	return b
}

// recent remembers the ids of the last strings of a column: rows come in
// runs of few values, and comparing beats hashing.
type recent struct {
	family, typ entry
	zones       [4]entry
	next        int
}

type entry struct {
	s  string
	id uint32
}

func (e *entry) id32(n *names, s string) uint32 {
	if s != e.s {
		*e = entry{s, n.catalogue(s)}
	}
	return e.id
}

func (r *recent) zone(n *names, s string) uint32 {
	for i := range r.zones {
		if r.zones[i].s == s {
			return r.zones[i].id
		}
	}
	e := &r.zones[r.next%len(r.zones)]
	r.next++
	return e.id32(n, s)
}

// Clean makes a guest's text fit for logs, events and terminals: valid UTF-8,
// one line, no control characters, at most abi.MaxMessage bytes.
func Clean(text []byte) string {
	text = text[:min(len(text), abi.MaxMessage)]
	plain := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "?"))
	plain = strings.TrimSpace(plain)
	for len(plain) > abi.MaxMessage { // replacement runes are longer than what they replace
		plain = strings.ToValidUTF8(plain[:abi.MaxMessage], "")
	}
	return plain
}

func sortedKeys(set map[string]string) []string { return slices.Sorted(maps.Keys(set)) }

func appendU32(b []byte, n uint32) []byte { return binary.LittleEndian.AppendUint32(b, n) }
