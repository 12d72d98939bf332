package decision

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"spokeshave.dev/controller/kube/reconcile/batch"
)

// batches is the window of the loop, which watches write to and the loop reads.
type batches struct {
	mu     sync.Mutex
	window batch.Window
	// owners are those of which a pod has come in the open batch and that say how many pods
	// they will have: the next snapshot has all of them, whenever they come.
	owners map[types.UID]bool
}

// change records that something else than a pod asks for a decision.
func (b *batches) change(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.window.Change(now)
}

// arrive records that a pod waits, see [Loop.Arrived].
func (b *batches) arrive(now time.Time, owner types.UID, planned bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case owner != "" && (planned || b.owners[owner]):
		b.window.Expect(now)
		return
	case owner != "" && b.owners == nil:
		b.owners = map[types.UID]bool{owner: true}
	case owner != "":
		b.owners[owner] = true
	}
	b.window.Arrive(now)
}

// left returns for how long the open batch still waits.
func (b *batches) left(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.window.Left(now)
}

// hold keeps a batch that has ended open for a moment if owners have still to create their
// first pod: starting returns how many pods these want. hold returns for how long, 0 when the
// batch is over.
func (b *batches) hold(now time.Time, starting func() int) time.Duration {
	b.mu.Lock()
	left := b.window.Hold(now)
	b.mu.Unlock() // watches go on while all owners are looked at
	if left == 0 || starting() == 0 {
		return 0
	}
	return left
}

// close ends the batch.
func (b *batches) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.window.Close()
	b.owners = nil
}
