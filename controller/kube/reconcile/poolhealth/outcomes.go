// Package poolhealth remembers whether the recent launches of each NodePool became
// nodes. From that follow the pool's condition NodeRegistrationHealthy, and for how long
// nothing is launched from it after failures that waiting does not mend, such as missing
// permissions or nodes that cannot join.
package poolhealth

import (
	"sync"
	"time"
)

const (
	// remembered is how many outcomes of a pool count, and unhealthy how many failures
	// among them make it unhealthy, as in Karpenter.
	remembered = 4
	unhealthy  = 2

	// firstPause is how long a pool rests after a failure. Each further one doubles it,
	// up to maxPause. Failures of claims that were launched before a pause began do not
	// prolong it: one mistake fails all claims of a decision at once.
	firstPause = 30 * time.Second
	maxPause   = 15 * time.Minute
)

// Outcomes are those of all pools, in memory only. The zero value is ready; it may be
// used by several goroutines. A nil *Outcomes records nothing.
type Outcomes struct {
	mu    sync.Mutex
	pools map[string]*pool
	// changed, when set, is told the name of each pool whose outcomes changed.
	changed func(pool string)
}

// pool is what is known of one NodePool.
type pool struct {
	// recent are the last outcomes, the oldest first: whether a node registered.
	recent []bool
	// failure is the last failure that there was.
	failure Failure
	// pause is how long the last pause was, until when it ends.
	pause time.Duration
	until time.Time
}

// Failure is why a claim was given up: a reason in CamelCase and a sentence.
type Failure struct{ Reason, Message string }

// Health is what the outcomes of a pool say.
type Health struct {
	// Known is false when there were no outcomes since the start, or the last change of
	// the pool.
	Known bool
	// Healthy is false when too many of the recent launches failed; Failure is the last.
	Healthy bool
	Failure Failure
	// PausedUntil is when the pool may launch again; zero when it may now.
	PausedUntil time.Time
}

// Notify sets the function that is told of changes, which must not block.
func (o *Outcomes) Notify(changed func(pool string)) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changed = changed
}

// Registered records that a claim of the pool has become a node.
func (o *Outcomes) Registered(name string) {
	o.change(name, func(p *pool) {
		p.add(true)
		p.pause, p.until = 0, time.Time{}
	})
}

// Failed records that a claim of the pool, launched at the given time, was given up.
func (o *Outcomes) Failed(name string, why Failure, launched, now time.Time) {
	o.change(name, func(p *pool) {
		p.add(false)
		p.failure = why
		if launched.Before(p.until) {
			return
		}
		p.pause = min(max(firstPause, 2*p.pause), maxPause)
		p.until = now.Add(p.pause)
	})
}

// Forget drops what is known of a pool, after it or its node class was changed: what
// failed may be mended.
func (o *Outcomes) Forget(name string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.pools, name)
}

// Health returns what the outcomes of a pool say at a time.
func (o *Outcomes) Health(name string, now time.Time) Health {
	if o == nil {
		return Health{}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.pools[name]
	if p == nil {
		return Health{}
	}
	out := Health{Known: true, Healthy: p.failures() < unhealthy, Failure: p.failure}
	if p.until.After(now) {
		out.PausedUntil = p.until
	}
	return out
}

func (o *Outcomes) change(name string, do func(*pool)) {
	if o == nil || name == "" {
		return
	}
	o.mu.Lock()
	if o.pools == nil {
		o.pools = map[string]*pool{}
	}
	if o.pools[name] == nil {
		o.pools[name] = &pool{}
	}
	do(o.pools[name])
	changed := o.changed
	o.mu.Unlock()
	if changed != nil {
		changed(name)
	}
}

func (p *pool) add(registered bool) {
	p.recent = append(p.recent, registered)
	if len(p.recent) > remembered {
		p.recent = p.recent[1:]
	}
}

func (p *pool) failures() int {
	n := 0
	for _, registered := range p.recent {
		if !registered {
			n++
		}
	}
	return n
}
