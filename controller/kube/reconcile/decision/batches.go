package decision

import (
	"sync"
	"time"

	"spokeshave.dev/controller/kube/reconcile/batch"
)

// batches is the window of the loop, which watches write to and the loop reads.
type batches struct {
	mu     sync.Mutex
	window batch.Window
}

// add records an event.
func (b *batches) add(now time.Time, event func(*batch.Window, time.Time)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	event(&b.window, now)
}

// left returns for how long the open batch still waits.
func (b *batches) left(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.window.Left(now)
}

// close ends the batch.
func (b *batches) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.window.Close()
}
