package decision

import (
	"sync/atomic"
	"time"
)

// progress is when the loop began the step of its work that it is at. It is safe for
// concurrent use. The zero value is a loop that waits.
type progress struct{ since atomic.Int64 }

// step records that a step begins, and that those before it have ended.
func (p *progress) step(now time.Time) { p.since.Store(now.UnixNano()) }

// end records that the loop waits for a reason to work.
func (p *progress) end() { p.since.Store(0) }

// busy returns for how long the step under way has taken, 0 when there is none.
func (p *progress) busy(now time.Time) time.Duration {
	since := p.since.Load()
	if since == 0 {
		return 0
	}
	return max(1, now.Sub(time.Unix(0, since)))
}
