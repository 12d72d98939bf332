package policy

import (
	"time"
	"unsafe"

	"spokeshave.dev/sdk/abi"
)

// session is the batch being answered. A module answers one at a time.
type session struct {
	batch    abi.Batch
	base     unsafe.Pointer
	messages abi.Messages
	pool     Pool
	reasons  [8]reason
	next     int
	failed   bool
	silent   bool
}

// reason remembers where a text stands in the message area.
type reason struct {
	text   string
	offset uint32
}

var current session //nolint:gochecknoglobals // one batch at a time; kept to spare allocations

func (s *session) open(b []byte) error {
	if err := s.batch.Open(b); err != nil {
		return err
	}
	s.base = unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(s.base)%8 != 0 {
		return abi.ErrSection
	}
	s.messages = abi.Messages(s.batch.Area(s.batch.Message))
	s.messages.Reset()
	s.reasons, s.next = [8]reason{}, 0
	s.failed, s.silent = false, false
	return nil
}

func (s *session) status() abi.Status {
	switch {
	case s.failed:
		return abi.Failed
	case s.silent:
		return abi.NoOpinion
	}
	return abi.Answered
}

// row is a pointer to record i of a section; nil is never returned: an index
// outside ends the module like an index outside a slice.
func (s *session) row(t *abi.Section, i int) unsafe.Pointer {
	if uint(i) >= uint(t.Count) {
		panic("policy: no such row") //nolint:forbidigo // the author's bug, like an index out of range
	}
	return unsafe.Add(s.base, uintptr(t.Offset)+uintptr(i)*uintptr(t.Stride))
}

// text is a string of the batch, without a copy.
func (s *session) text(id uint32) string {
	b := s.batch.Text(id)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// reason gives a text's place in the message area, writing it once for a run
// of equal ones.
func (s *session) reason(text string) uint32 {
	if text == "" {
		return 0
	}
	text = text[:min(len(text), abi.MaxMessage)]
	for i := range s.reasons {
		if s.reasons[i].text == text {
			return s.reasons[i].offset
		}
	}
	at := s.messages.Append(text)
	if at == 0 { // no room: a shorter one may still fit
		return 0
	}
	s.reasons[s.next%len(s.reasons)] = reason{text, at}
	s.next++
	return at
}

// Labels is a label set of the batch.
type Labels struct {
	s            *session
	first, count uint32
}

// Get is a label's value.
func (l Labels) Get(key string) (value string, ok bool) {
	for i := range l.count {
		k, v, ok := l.s.batch.Pair(l.first + i)
		if ok && l.s.text(k) == key {
			return l.s.text(v), true
		}
	}
	return "", false
}

// Len is the number of labels.
func (l Labels) Len() int { return int(l.count) }

// At is label i, in the order of the keys.
func (l Labels) At(i int) (key, value string) {
	k, v, _ := l.s.batch.Pair(l.first + uint32(i))
	return l.s.text(k), l.s.text(v)
}

// Call is the decision's time and seed, the only ones there are.
type Call struct{ s *session }

// Time is the decision's time, UTC.
func (c Call) Time() time.Time { return time.Unix(0, c.s.batch.Time).UTC() }

// Seed is the decision's seed.
func (c Call) Seed() uint64 { return c.s.batch.Seed }

// Fail gives up on the batch: the policy's failurePolicy applies, and the text
// appears in its status.
func (c Call) Fail(text string) {
	if text == "" {
		text = "failed"
	}
	c.s.failed = true
	c.s.reasons = [8]reason{}
	c.s.messages.Reset()
	c.s.messages.Append(text)
}

// NoOpinion leaves the question to other policies, whatever the answers say.
func (c Call) NoOpinion() { c.s.silent = true }
