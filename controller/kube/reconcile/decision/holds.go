package decision

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/record/journal"
)

// backoff is a range of pauses: the first, and the one up to which each further one is
// twice the last.
type backoff struct{ first, most time.Duration }

// after returns the pause after so many failures in a row, counted from 1.
func (b backoff) after(failures int) time.Duration {
	pause := b.first
	for i := 1; i < failures && pause < b.most; i++ {
		pause *= 2
	}
	return min(pause, b.most)
}

// podPause is for how long a pod is left out of decisions after one about it failed or
// its NodeClaim was refused. poolPause is for how long nothing is launched from a
// NodePool none of whose claims was accepted; it is short, since pods that have not
// been refused wait, too. disruptionPause is for how long nothing is disrupted after that
// part of a decision failed.
func podPause() backoff        { return backoff{10 * time.Second, 5 * time.Minute} }
func poolPause() backoff       { return backoff{5 * time.Second, time.Minute} }
func disruptionPause() backoff { return backoff{30 * time.Second, 10 * time.Minute} }

// hold is why and until when something is left out of decisions.
type hold struct {
	failures int
	until    time.Time
	reason   model.Reason
	// generation is the NodePool's when its claim was refused: a change of the NodePool
	// ends the hold.
	generation int64
}

// pause begins the next pause.
func (h *hold) pause(now time.Time, b backoff) {
	h.failures++
	h.until = now.Add(b.after(h.failures))
}

// holds are what is left out of the next decisions, because earlier ones failed or could
// not be applied. They are in memory only: after a restart everything is tried once. The
// zero value is ready.
type holds struct {
	pods       map[types.UID]*hold
	pools      map[string]*hold
	disruption hold
	search     hold
}

// apply marks the pods and NodePools of the snapshot that are held, and returns how many
// pods are. A pod is held only while the NodePool that was refused for it may launch:
// otherwise it is to find another one. Holds of pods that need no place any more end, as do
// those whose NodePool has changed.
func (h *holds) apply(view *cluster.View) int {
	s := &view.Snapshot
	closed := map[string]bool{}
	for i := range s.Pools {
		p := &s.Pools[i]
		held := h.pools[p.Name]
		switch {
		case held == nil:
		case held.generation != view.Pools[p.Name].Generation:
			delete(h.pools, p.Name)
		case s.Time.Before(held.until):
			closed[p.Name] = true
			if p.NotReady == "" {
				p.NotReady = held.reason.Message
			}
		}
	}
	still, count := map[types.UID]*hold{}, 0
	for i := range s.Pods {
		p := &s.Pods[i]
		held := h.pods[types.UID(p.UID)]
		if held == nil || !s.NeedsPlace(p) || !current(held, view) {
			continue
		}
		still[types.UID(p.UID)] = held
		if s.Time.Before(held.until) && !closed[held.reason.Pool] {
			p.Held = &held.reason
			count++
		}
	}
	h.pods = still
	return count
}

// current reports whether the NodePool that refused a pod's claim is still as it was.
func current(held *hold, view *cluster.View) bool {
	if held.reason.Pool == "" {
		return true
	}
	pool := view.Pools[held.reason.Pool]
	return pool != nil && pool.Generation == held.generation
}

// refused holds the pods of a claim that the API server refused. The second half of
// them is held for twice as long: if one pod is at fault, the others are soon tried
// without it. accepted says that other claims of the NodePool were created at the same
// time; otherwise the NodePool is held, too.
func (h *holds) refused(now time.Time, r *actuate.RefusedError, generation int64, accepted bool) { //nolint:revive // a fact about the NodePool
	reason := model.Reason{Code: model.HeldBack, Pool: r.Pool, Message: "the API server refuses the NodeClaim: " + r.Message()}
	for i, uid := range r.Pods {
		held := h.pod(uid)
		held.reason, held.generation = reason, generation
		held.pause(now, podPause())
		if i >= (len(r.Pods)+1)/2 {
			held.until = now.Add(2 * held.until.Sub(now))
		}
	}
	if accepted {
		return
	}
	held := h.pools[r.Pool]
	if held == nil {
		held = &hold{}
		if h.pools == nil {
			h.pools = map[string]*hold{}
		}
		h.pools[r.Pool] = held
	}
	held.reason, held.generation = reason, generation
	if !now.Before(held.until) { // once in an application
		held.pause(now, poolPause())
	}
}

// accepted ends the hold of a NodePool of which a claim was created.
func (h *holds) accepted(pool string) { delete(h.pools, pool) }

// failed holds the pods without which a decision had to be made, and the part of it that
// was left out.
func (h *holds) failed(in *journal.Decided) {
	s, d, disruption := in.Snapshot, in.Decision, false
	for i := range d.Failures {
		f := &d.Failures[i]
		if f.Kind == decide.Unproven {
			continue // the decision itself leaves out what cannot be proven
		}
		disruption = disruption || f.Part == decide.Disrupting
		for _, p := range f.Pods {
			held := h.pod(types.UID(s.Pods[p].UID))
			held.reason = model.Reason{Code: model.HeldBack, Message: "planning for the pod failed, which is a defect in Spokeshave: " + f.Message}
			held.pause(s.Time, podPause())
		}
	}
	switch {
	case disruption && d.Disrupted:
		h.search.pause(s.Time, disruptionPause())
	case disruption:
		h.disruption.pause(s.Time, disruptionPause())
	case d.Disrupted && in.Options.Search:
		h.disruption, h.search = hold{}, hold{}
	case d.Disrupted:
		h.disruption = hold{}
	}
}

// pod returns the hold of a pod, a new one if there is none. That of a pod without a UID
// is not kept.
func (h *holds) pod(uid types.UID) *hold {
	if uid == "" {
		return &hold{}
	}
	if h.pods == nil {
		h.pods = map[types.UID]*hold{}
	}
	if h.pods[uid] == nil {
		h.pods[uid] = &hold{}
	}
	return h.pods[uid]
}

// searchIn returns after how long nodes to consolidate may be searched for, 0 for now.
func (h *holds) searchIn(now time.Time) time.Duration {
	return max(0, h.disruption.until.Sub(now), h.search.until.Sub(now))
}

// wait returns after how long the first hold ends. ok is false when nothing is held.
func (h *holds) wait(now time.Time) (wait time.Duration, ok bool) {
	sooner := func(held *hold) {
		if left := held.until.Sub(now); left > 0 && (!ok || left < wait) {
			wait, ok = left, true
		}
	}
	for _, held := range h.pods {
		sooner(held)
	}
	for _, held := range h.pools {
		sooner(held)
	}
	sooner(&h.disruption)
	return wait, ok
}
