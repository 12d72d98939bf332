package supply

import (
	"encoding/binary"
	"sync"

	"spokeshave.dev/controller/core/solver/vec"
)

// maxRemembered is how many sets a memo keeps. A cluster has a few: of each class of pods the
// offers that it may use.
const maxRemembered = 1 << 10

// memo remembers what a function makes of sets of offers. The zero value is ready, and may be
// used by several goroutines at the same time.
type memo struct {
	lock sync.Mutex
	made map[string]vec.Bits
}

// change changes a set as f does. It calls f only for sets that it has not seen.
func (m *memo) change(set vec.Bits, f func()) {
	key := make([]byte, 0, 8*len(set))
	for _, word := range set {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	m.lock.Lock()
	made, ok := m.made[string(key)]
	m.lock.Unlock()
	if ok {
		copy(set, made)
		return
	}
	f()
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.made == nil || len(m.made) >= maxRemembered {
		m.made = map[string]vec.Bits{}
	}
	m.made[string(key)] = set.Clone()
}
