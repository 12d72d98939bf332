package abi

import (
	"encoding/binary"
	"errors"
)

// MaxMessage is the most bytes of one message that the host reads.
const MaxMessage = 512

// ErrMessage is the error of a reason that points outside the message area.
var ErrMessage = errors.New("reason outside the message area")

// Messages is the message area of a batch: a u32 with the bytes in use (that
// word included), then the messages, each a u32 length and its text, starting
// at multiples of 4. A reason is the offset of a message in the area; 0 is no
// reason. The text of status Failed is the first message, at offset 4.
type Messages []byte

// Reset empties the area.
func (m Messages) Reset() {
	if len(m) >= 4 {
		binary.LittleEndian.PutUint32(m, 4)
	}
}

// Append adds a message, cut to MaxMessage bytes, and gives its offset: 0 when
// the area is full.
func (m Messages) Append(text string) uint32 {
	if len(text) > MaxMessage {
		text = text[:MaxMessage]
	}
	if len(m) < 4 {
		return 0
	}
	at := uint64(binary.LittleEndian.Uint32(m))
	end := at + 4 + uint64(len(text))
	if at < 4 || end > uint64(len(m)) {
		return 0
	}
	binary.LittleEndian.PutUint32(m[at:], uint32(len(text)))
	copy(m[at+4:end], text)
	binary.LittleEndian.PutUint32(m, uint32((end+3)&^3))
	return uint32(at)
}

// At is the text of the message at an offset, at most MaxMessage bytes of it.
func (m Messages) At(offset uint32) ([]byte, error) {
	if offset == 0 {
		return nil, nil
	}
	if offset < 4 || uint64(offset)+4 > uint64(len(m)) {
		return nil, ErrMessage
	}
	size := uint64(binary.LittleEndian.Uint32(m[offset:]))
	start := uint64(offset) + 4
	if start+size > uint64(len(m)) {
		return nil, ErrMessage
	}
	return m[start : start+min(size, MaxMessage)], nil
}

// First is the text of the first message, nil when there is none.
func (m Messages) First() []byte {
	if len(m) < 4 || binary.LittleEndian.Uint32(m) <= 4 {
		return nil
	}
	text, err := m.At(4)
	if err != nil {
		return nil
	}
	return text
}
