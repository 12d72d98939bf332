package abi

import (
	"encoding/binary"
	"errors"
)

// Magic opens every batch, HeaderSize is the size of the header in bytes, and
// Align is the alignment of every section.
const (
	Magic      = "SSV1"
	HeaderSize = 128
	Align      = 16
)

// Sizes in bytes of the records that have no type of their own.
const (
	IndexStride = 8
	PairStride  = 8
)

// Errors of a malformed batch.
var (
	ErrShort   = errors.New("batch shorter than it says")
	ErrMagic   = errors.New("batch does not start with " + Magic)
	ErrSection = errors.New("section outside the batch")
	ErrHook    = errors.New("unknown hook")
)

// Section is a table of equal records: Count records of Stride bytes, at
// Offset from the start of the batch, in an area of Size bytes.
type Section struct{ Offset, Size, Count, Stride uint32 }

// Span is an area without records: Size bytes at Offset.
type Span struct{ Offset, Size uint32 }

// Header describes a batch.
type Header struct {
	Minor uint16
	Hook  Hook
	// Total is the size of the whole batch in bytes.
	Total uint32
	// Time is the decision's time in nanoseconds since 1970, UTC.
	Time int64
	// Generation identifies the catalogue: ids of instance types, families
	// and zones are stable while it stays the same.
	Generation uint64
	// Seed is the decision's seed, the only randomness there is.
	Seed uint64
	// Pool holds the PoolRow of a rank batch and the ScopeRows of a ceiling
	// batch; Rows holds the questions, Out a row for each answer.
	Pool, Rows, Index, Out Section
	// Bytes holds the text of the strings that Index cuts into pieces.
	Bytes Span
	// Message is the area for reasons and error texts: see Messages.
	Message Span
	// Pairs are the labels that rows refer to, PairStride bytes each; Size
	// counts bytes.
	Pairs Span
}

// Put writes the header to the first HeaderSize bytes of b, which must have
// room for it.
func (h *Header) Put(b []byte) {
	b = b[:HeaderSize]
	le := binary.LittleEndian
	copy(b, Magic)
	le.PutUint16(b[4:], h.Minor)
	le.PutUint16(b[6:], uint16(h.Hook))
	le.PutUint32(b[8:], h.Total)
	le.PutUint32(b[12:], 0)
	le.PutUint64(b[16:], uint64(h.Time))
	le.PutUint64(b[24:], h.Generation)
	le.PutUint64(b[32:], h.Seed)
	putSection(b[40:56], h.Pool)
	putSection(b[56:72], h.Rows)
	putSection(b[72:88], h.Index)
	putSpan(b[88:96], h.Bytes)
	putSection(b[96:112], h.Out)
	putSpan(b[112:120], h.Message)
	putSpan(b[120:128], h.Pairs)
}

// Parse reads and checks the header of a batch: when it returns nil, every
// section lies inside b and holds its records.
func (h *Header) Parse(b []byte) error {
	if len(b) < HeaderSize {
		return ErrShort
	}
	if string(b[:4]) != Magic {
		return ErrMagic
	}
	le := binary.LittleEndian
	h.Minor = le.Uint16(b[4:])
	h.Hook = Hook(le.Uint16(b[6:]))
	h.Total = le.Uint32(b[8:])
	h.Time = int64(le.Uint64(b[16:]))
	h.Generation = le.Uint64(b[24:])
	h.Seed = le.Uint64(b[32:])
	h.Pool = section(b[40:56])
	h.Rows = section(b[56:72])
	h.Index = section(b[72:88])
	h.Bytes = span(b[88:96])
	h.Out = section(b[96:112])
	h.Message = span(b[112:120])
	h.Pairs = span(b[120:128])
	if uint64(h.Total) > uint64(len(b)) || h.Total < HeaderSize {
		return ErrShort
	}
	return h.check()
}

func (h *Header) check() error {
	least, ok := h.Hook.strides()
	if !ok {
		return ErrHook
	}
	ok = h.holds(h.Pool, least.pool) && h.holds(h.Rows, least.row) && h.holds(h.Out, least.out) &&
		h.holds(h.Index, IndexStride) &&
		h.inside(h.Bytes) && h.inside(h.Message) && h.inside(h.Pairs)
	if !ok {
		return ErrSection
	}
	return nil
}

func (h *Header) holds(s Section, stride uint32) bool {
	if s.Count == 0 {
		return h.inside(Span{s.Offset, s.Size})
	}
	return s.Stride >= stride && s.Stride%8 == 0 && h.inside(Span{s.Offset, s.Size}) &&
		uint64(s.Count)*uint64(s.Stride) <= uint64(s.Size)
}

func (h *Header) inside(s Span) bool {
	if s.Size == 0 {
		return true
	}
	return s.Offset >= HeaderSize && s.Offset%Align == 0 &&
		uint64(s.Offset)+uint64(s.Size) <= uint64(h.Total)
}

// strides are the sizes of a hook's pool, question and answer records.
type strides struct{ pool, row, out uint32 }

func (k Hook) strides() (strides, bool) {
	switch k {
	case HookRank:
		return strides{PoolStride, RankStride, RankOutStride}, true
	case HookConsolidate:
		return strides{0, CandidateStride, ConsolidateOutStride}, true
	case HookCeiling:
		return strides{ScopeStride, LaunchStride, CeilingOutStride}, true
	default:
		return strides{}, false
	}
}

func putSection(b []byte, s Section) {
	le := binary.LittleEndian
	le.PutUint32(b, s.Offset)
	le.PutUint32(b[4:], s.Size)
	le.PutUint32(b[8:], s.Count)
	le.PutUint32(b[12:], s.Stride)
}

func section(b []byte) Section {
	le := binary.LittleEndian
	return Section{le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])}
}

func putSpan(b []byte, s Span) {
	binary.LittleEndian.PutUint32(b, s.Offset)
	binary.LittleEndian.PutUint32(b[4:], s.Size)
}

func span(b []byte) Span {
	return Span{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
}
