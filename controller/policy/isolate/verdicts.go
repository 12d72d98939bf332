package isolate

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// maxVerdicts is how many verdicts an engine remembers, and maxVerdictNotes how many bytes the notes
// of one may have: they come from the process of a trial.
const (
	maxVerdicts     = 64
	maxVerdictNotes = 64 << 10
)

// digest identifies what a trial was given.
type digest [sha256.Size]byte

// digestOf returns the digest of all that the process of a trial gets. Its verdict depends on nothing else.
func digestOf(trial *load) (digest, error) {
	b, err := json.Marshal(trial)
	if err != nil {
		return digest{}, fmt.Errorf("encode a policy: %w", err)
	}
	return sha256.Sum256(b), nil
}

// verdicts remember what trials have found about policies that did not fit beside the others, the latest
// maxVerdicts of them. Such policies come again every minute, and a trial takes seconds, one after the other.
// It is safe for concurrent use.
type verdicts struct {
	mu     sync.Mutex
	of     map[digest]*loaded
	latest []digest // the latest last
}

// take returns and forgets a verdict, nil if there is none.
func (v *verdicts) take(d digest) *loaded {
	v.mu.Lock()
	defer v.mu.Unlock()
	found := v.of[d]
	if found != nil {
		v.forget(d)
	}
	return found
}

func (v *verdicts) keep(d digest, verdict *loaded) {
	size := 0
	for _, note := range verdict.Notes {
		size += len(note)
	}
	if size > maxVerdictNotes {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of[d] != nil {
		v.forget(d)
	}
	if len(v.latest) == maxVerdicts {
		v.forget(v.latest[0])
	}
	if v.of == nil {
		v.of = map[digest]*loaded{}
	}
	v.of[d] = verdict
	v.latest = append(v.latest, d)
}

// forget removes a verdict. The caller has v.mu.
func (v *verdicts) forget(d digest) {
	delete(v.of, d)
	v.latest = slices.DeleteFunc(v.latest, func(each digest) bool { return each == d })
}
