package isolate

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"spokeshave.dev/controller/core/policy"
)

// kind says what a frame is.
type kind byte

// The frames to the process, and those from it. load is answered by stages and loaded,
// ask by reply, drop by nothing. job is answered by parts and done.
const (
	kindLoad kind = iota + 1
	kindAsk
	kindDrop
	kindReady
	kindStage
	kindLoaded
	kindReply
	kindJob
	kindPart
	kindDone
)

// headSize is the size of what stands before a frame's bytes: their number (4 bytes),
// the kind (4 bytes) and the policy's number (8 bytes).
const headSize = 16

// maxFrame is the most bytes of a frame in either direction.
const maxFrame = 48 << 20

// maxReply is the most bytes of a frame that the controller accepts.
const maxReply = 8 << 20

// frame is one message.
type frame struct {
	kind   kind
	policy uint64
	bytes  []byte
}

// put writes the frame's head to b, which has room for it.
func (f *frame) put(b []byte, size int) {
	binary.LittleEndian.PutUint32(b, uint32(size))
	binary.LittleEndian.PutUint32(b[4:], uint32(f.kind))
	binary.LittleEndian.PutUint64(b[8:], f.policy)
}

// send writes a frame.
func (f *frame) send(w io.Writer) error {
	head := make([]byte, headSize, headSize+len(f.bytes))
	f.put(head, len(f.bytes))
	_, err := w.Write(append(head, f.bytes...))
	return err //nolint:wrapcheck // the caller says what it was about
}

// receive reads a frame of at most so many bytes. Its bytes are in buf if they fit.
func receive(r *bufio.Reader, buf []byte, most int) (frame, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err //nolint:wrapcheck // io.EOF has a meaning
	}
	size := int(binary.LittleEndian.Uint32(head[:]))
	f := frame{kind: kind(head[4]), policy: binary.LittleEndian.Uint64(head[8:])}
	if size > most {
		return f, fmt.Errorf("a frame of %d bytes, at most %d are read", size, most)
	}
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	f.bytes = buf[:size]
	_, err := io.ReadFull(r, f.bytes)
	return f, err //nolint:wrapcheck // io.EOF has a meaning
}

// load is what kindLoad carries: a policy's source.
type load struct {
	Name   string
	Hooks  []policy.Hook
	Files  map[string]string
	Config []byte
	Limits policy.Limits
	// Trial runs the policy's tests.
	Trial bool
	// Notes are those of the trial.
	Notes []string
}

// loaded is what kindLoaded carries.
type loaded struct {
	// Error says why the policy was refused, "" when it was not. Late is true when the
	// reason is that a deadline passed.
	Error string
	Late  bool
	// Guards and Notes are those of policy.Info and policy.Stats.
	Guards bool
	Notes  []string
	// Took is the processor time that compiling it again has taken, after a trial, and Holds
	// the bytes of memory that it takes while it is not asked.
	Took  time.Duration
	Holds uint64
}
