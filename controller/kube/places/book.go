// Package places remembers which pods have taken a place that was planned on a NodeClaim for
// a pod that had been announced. Two parts of the controller give such places, without
// waiting for each other: the one that lets a pod onto a node as soon as it is created, and
// the decision loop. A pod must have one place: with two, it leaves room free on one node and
// takes that of another pod on the other.
package places

import (
	"maps"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// forgetAfter is for how long a place is remembered. The decision loop names the pod on the
// claim within seconds, while it runs; from then on the claim says it.
const forgetAfter = 2 * time.Minute

// Book has one place for each pod. It is safe for concurrent use. A nil Book remembers
// nothing and lets everybody take any place.
type Book struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	of     map[string]place
	pruned time.Time
}

type place struct {
	claim string
	at    time.Time
}

// New returns an empty Book that takes the time from c.
func New(c clock.PassiveClock) *Book { return &Book{clock: c, of: map[string]place{}} }

// Take notes that the pod (namespace/name) has a place on a NodeClaim. It returns false, and
// notes nothing, when the pod has one on another claim.
func (b *Book) Take(pod, claim string) bool {
	if b == nil {
		return true
	}
	now := b.clock.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.pruned) >= forgetAfter {
		b.pruned = now
		maps.DeleteFunc(b.of, func(_ string, p place) bool { return now.Sub(p.at) >= forgetAfter })
	}
	if has, ok := b.of[pod]; ok && has.claim != claim && now.Sub(has.at) < forgetAfter {
		return false
	}
	b.of[pod] = place{claim, now}
	return true
}

// Leave forgets the pod's place.
func (b *Book) Leave(pod string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, pod)
}

// Of returns the name of the NodeClaim on which the pod has a place, "" for none.
func (b *Book) Of(pod string) string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if has, ok := b.of[pod]; ok && b.clock.Since(has.at) < forgetAfter {
		return has.claim
	}
	return ""
}
