package decision

import (
	"slices"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

const (
	// searchEvery is how often the whole cluster is searched, as in Karpenter.
	searchEvery = 10 * time.Second
	// rolloutSearchEvery is how often during a rollout: pods that are yet to come can use free
	// capacity that a search would remove. It is finite, so that rollouts that follow each other
	// without end only slow consolidation down.
	rolloutSearchEvery = 5 * time.Minute
	// searchShare bounds the time spent searching, in which pods that come have to
	// wait: a decision that took t is followed by no search for searchShare × t.
	searchShare = 20
)

// searchSchedule says when the next search for a cheaper cluster is due. A search
// takes longer than the rest of a decision, so that not every decision makes one.
// The zero value is ready: a search is due at once.
type searchSchedule struct {
	// last is when the last search was made.
	last time.Time
	// took is how long the decision with the last search took.
	took time.Duration
	// early is when a search is due before its interval has passed, because a cap keeps
	// pods waiting and a search may free money for them; zero for none.
	early time.Time
	// short are the scopes whose caps kept pods waiting in the last decision.
	short []string
}

// searchInterval is how often the cluster is searched: less often during a rollout, which goes on
// while beginning, the number of pods of new workloads that are yet to begin, is positive or the
// snapshot has announced pods. Those of Jobs do not count, as some clusters always have them.
func searchInterval(beginning int, s *model.Snapshot) time.Duration {
	if beginning > 0 {
		return rolloutSearchEvery
	}
	for i := range s.Pods {
		if s.Pods[i].Announced != "" && !s.Pods[i].Job {
			return rolloutSearchEvery
		}
	}
	return searchEvery
}

// due reports whether a decision made now is to search: every has passed since the last search,
// or an early one is due. If so, it starts the interval again; [searchSchedule.record] undoes that
// for a search that was not made.
func (s *searchSchedule) due(now time.Time, every time.Duration) bool {
	if !s.early.IsZero() && !now.Before(s.early) {
		every = 0
	}
	if now.Sub(s.last) < max(every, searchShare*s.took) {
		return false
	}
	s.last = now
	return true
}

// record reports whether the decision made the search that was due. A search that was
// not made stays due: the interval counts from before, the time of the search before
// it.
func (s *searchSchedule) record(d *decide.Decision, due bool, before time.Time) bool { //nolint:revive // a fact about the decision
	if !due || d.Postponed {
		s.last = before
		return false
	}
	s.took = d.Timing.Total
	return true
}

// expedite brings the next search forward when a cap keeps pods waiting. It is due now
// when the cap did not do so in the last decision, and otherwise when a removable node
// will have been idle for long enough.
func (s *searchSchedule) expedite(d *decide.Decision, searched bool) {
	scopes := d.Short()
	fresh := slices.ContainsFunc(scopes, func(x string) bool { return !slices.Contains(s.short, x) })
	waits := !s.early.IsZero() && !s.early.After(d.Time)
	s.short = scopes
	switch {
	case len(scopes) == 0:
		s.early = time.Time{}
		return
	case !searched && (fresh || waits):
		s.early = d.Time
		return
	}
	s.early = time.Time{}
	for i := range d.Disruptions {
		each := &d.Disruptions[i]
		if each.Method == decide.MethodUnderutilized && each.RetryAt.After(d.Time) && (s.early.IsZero() || each.RetryAt.Before(s.early)) {
			s.early = each.RetryAt
		}
	}
}

// wait is how long after now an early search is due. ok is false when none is.
func (s *searchSchedule) wait(now time.Time) (wait time.Duration, ok bool) {
	if s.early.IsZero() {
		return 0, false
	}
	return max(0, s.early.Sub(now), searchShare*s.took-now.Sub(s.last)), true
}
