package abi

import "encoding/binary"

// Batch is a checked view of the bytes of a batch. It holds no copy: it is
// valid as long as the bytes are.
type Batch struct {
	Header
	b []byte
}

// Open checks the header of b and gives a view of it.
func (v *Batch) Open(b []byte) error {
	if err := v.Parse(b); err != nil {
		return err
	}
	v.b = b[:v.Total]
	return nil
}

// Row is record i of a section of the batch, nil when there is none.
func (v *Batch) Row(s Section, i uint32) []byte {
	if i >= s.Count {
		return nil
	}
	at := uint64(s.Offset) + uint64(i)*uint64(s.Stride)
	end := at + uint64(s.Stride)
	if end > uint64(len(v.b)) {
		return nil
	}
	return v.b[at:end]
}

// Area is the bytes of a span of the batch, nil when it lies outside.
func (v *Batch) Area(s Span) []byte {
	end := uint64(s.Offset) + uint64(s.Size)
	if end > uint64(len(v.b)) {
		return nil
	}
	return v.b[s.Offset:end]
}

// Text is the string with the given id, nil for an id that does not exist. Id
// 0 is the empty string.
func (v *Batch) Text(id uint32) []byte {
	entry := v.Row(v.Index, id)
	if entry == nil {
		return nil
	}
	at, size := uint64(binary.LittleEndian.Uint32(entry)), uint64(binary.LittleEndian.Uint32(entry[4:]))
	if at+size > uint64(v.Bytes.Size) {
		return nil
	}
	text := v.Area(v.Bytes)
	if text == nil {
		return nil
	}
	return text[at : at+size]
}

// Pair is label i of the batch, as the string ids of its key and value; ok is
// false when there is none.
func (v *Batch) Pair(i uint32) (key, value uint32, ok bool) {
	area := v.Area(v.Pairs)
	at := uint64(i) * PairStride
	if at+PairStride > uint64(len(area)) {
		return 0, 0, false
	}
	return binary.LittleEndian.Uint32(area[at:]), binary.LittleEndian.Uint32(area[at+4:]), true
}
