package abi

import "encoding/binary"

// SetupMagic opens the block that spokeshave_configure gets, SetupSize is the
// size of its head in bytes.
const (
	SetupMagic = "SSC1"
	SetupSize  = 64
)

// Setup is what a guest learns once per instance, before any question.
type Setup struct {
	// Minor is the highest minor version the host speaks.
	Minor uint16
	// Hooks has the bit 1<<Hook of every hook that will be asked.
	Hooks uint16
	// Total is the size of the block in bytes.
	Total uint32
	// The sizes of the records that the host writes, in bytes.
	PoolStride, RankStride, RankOutStride       uint32
	CandidateStride, ConsolidateOutStride       uint32
	ScopeStride, LaunchStride, CeilingOutStride uint32
	// Config is JSON, empty when the policy has none.
	Config Span
	// Message is the area for the text of an error.
	Message Span
}

// Strides fills in the sizes that this package knows.
func (s *Setup) Strides() {
	s.PoolStride, s.RankStride, s.RankOutStride = PoolStride, RankStride, RankOutStride
	s.CandidateStride, s.ConsolidateOutStride = CandidateStride, ConsolidateOutStride
	s.ScopeStride, s.LaunchStride, s.CeilingOutStride = ScopeStride, LaunchStride, CeilingOutStride
}

// Put writes the head to the first SetupSize bytes of b, which must have room.
func (s *Setup) Put(b []byte) {
	b = b[:SetupSize]
	le := binary.LittleEndian
	copy(b, SetupMagic)
	le.PutUint16(b[4:], s.Minor)
	le.PutUint16(b[6:], s.Hooks)
	le.PutUint32(b[8:], s.Total)
	for i, n := range [...]uint32{
		s.PoolStride, s.RankStride, s.RankOutStride, s.CandidateStride, s.ConsolidateOutStride,
		s.ScopeStride, s.LaunchStride, s.CeilingOutStride,
	} {
		le.PutUint32(b[12+4*i:], n)
	}
	putSpan(b[44:], s.Config)
	putSpan(b[52:], s.Message)
	le.PutUint32(b[60:], 0)
}

// Parse reads and checks the head of b: when it returns nil, Config and
// Message lie inside b.
func (s *Setup) Parse(b []byte) error {
	if len(b) < SetupSize {
		return ErrShort
	}
	if string(b[:4]) != SetupMagic {
		return ErrMagic
	}
	le := binary.LittleEndian
	s.Minor = le.Uint16(b[4:])
	s.Hooks = le.Uint16(b[6:])
	s.Total = le.Uint32(b[8:])
	for i, n := range [...]*uint32{
		&s.PoolStride, &s.RankStride, &s.RankOutStride, &s.CandidateStride, &s.ConsolidateOutStride,
		&s.ScopeStride, &s.LaunchStride, &s.CeilingOutStride,
	} {
		*n = le.Uint32(b[12+4*i:])
	}
	s.Config = span(b[44:])
	s.Message = span(b[52:])
	if s.Total < SetupSize || uint64(s.Total) > uint64(len(b)) {
		return ErrShort
	}
	for _, p := range [...]Span{s.Config, s.Message} {
		if p.Size > 0 && (p.Offset < SetupSize || uint64(p.Offset)+uint64(p.Size) > uint64(s.Total)) {
			return ErrSection
		}
	}
	return nil
}
