package journal

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"github.com/go-logr/logr"

	"spokeshave.dev/controller/core/crash"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// undigested is how many decisions may wait for the digest of their snapshot. Further
// ones get no digest: snapshots are large, and the decision loop must not wait.
const undigested = 2

// digests limits the digests that are computed outside the decision loop. One is
// computed at a time.
type digests struct {
	places chan struct{}
	one    sync.Mutex
	busy   sync.WaitGroup
}

// complete adds to an entry what takes longer to compute than the decision: the digest
// of its snapshot, why existing nodes did not take the pods for which nodes were
// launched, and which other instance types could have been launched. It does not block.
func (j *Journal) complete(ctx context.Context, s *model.Snapshot, d *decide.Decision, e *Entry) {
	id := e.ID
	select {
	case j.digests.places <- struct{}{}:
	default:
		return
	}
	log := logr.FromContextOrDiscard(ctx)
	j.digests.busy.Go(func() {
		var digest string
		var more afterthoughts
		j.digests.one.Lock()
		err := crash.Do(func() (err error) {
			more = think(s, d)
			digest, err = s.Digest()
			return err
		})
		j.digests.one.Unlock()
		<-j.digests.places
		if err != nil {
			log.Error(err, "a decision has no digest of its snapshot", "decision", id, "stack", crash.Stack(err))
			return
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		for i := range slices.Backward(j.entries) {
			if e := &j.entries[i]; e.ID == id {
				e.Snapshot = digest
				e.complete(&more)
				return
			}
		}
	})
}

// shared replaces equal offerings by those of an earlier entry, so that the unchanged
// offerings of a NodePool are kept in memory once.
func (j *Journal) shared(all []Offerings) []Offerings {
	for i := range all {
		for k := range slices.Backward(j.entries) {
			old := j.entries[k].Candidates
			at := slices.IndexFunc(old, func(o Offerings) bool { return o.NodePool == all[i].NodePool })
			if at < 0 {
				continue
			}
			if reflect.DeepEqual(old[at], all[i]) {
				all[i] = old[at]
			}
			break
		}
	}
	return all
}
