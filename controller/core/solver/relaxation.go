package solver

import (
	"cmp"
	"math"

	"spokeshave.dev/controller/core/model"
)

// relaxation is how a solve treats preferences: as requirements, some of them as
// requirements, or not at all. Placing a pod takes precedence over any preference.
type relaxation struct {
	// name identifies the question in Stats.Trials.
	name string
	// quick is set when pods that are left out need not be tried again. effort
	// bounds each packing, together with Input.Effort. rounds is how many times in
	// succession the relaxation may run.
	quick  bool
	effort int
	rounds int
	// next prepares the next round and reports whether it should run.
	next func(*relaxer) bool
	// keeps reports whether the new plan replaces the earlier one.
	keeps func(s *model.Snapshot, found, before outcome) bool
}

// maxRelaxations is how many times preferences are dropped one by one before the pods
// that are still left out drop all of theirs. maxWaivers bounds the search for the fewest
// pods that give way to others: 8 rounds find it among 256.
const (
	maxRelaxations = 16
	maxWaivers     = 8
)

// relaxations returns the relaxations in the order in which they run. A pod gives its
// preferences up for its own sake, as long as that can help. Only while pods are left out
// that would have a place if nobody had preferences do others give theirs up as well, as
// few as possible.
func relaxations() []relaxation {
	return []relaxation{
		{"as required", false, unlimited, 1, nothingPreferred, always},
		{"all preferences", true, unlimited, 1, somethingPreferred, always},
		{"fewer preferences", true, quickEffort, maxRelaxations, fewerPreferences, always},
		{"fewer preferences, all or none of a pod", false, unlimited, 1, noneOfLeftOut, always},
		{"fewer preferences, improved", false, unlimited, 1, leftPodsOut, atLeastAsGood},
		{"no preferences", false, unlimited, 1, noPreferences, placesMore},
		{"preferences of some pods", false, unlimited, maxWaivers, fewestWaive, placesAsMany},
	}
}

// relaxer makes plans with fewer and fewer preferences.
type relaxer struct {
	in  Input
	log *trialLog
	// preferred is set when there are preferences.
	preferred bool
	wishes    preferences
	best      outcome
	// last is the last plan. short is set when a plan with preferences left pods out.
	last  outcome
	short bool
	// quick is set when the last plan was made with little effort.
	quick  bool
	waiver waiver
}

// relax plans the pods of an input with as many of their preferences as still let
// all of them find a place.
func relax(in *Input, log *trialLog) outcome {
	r := relaxer{in: *in, log: log}
	if !in.Snapshot.Settings.IgnorePreferences {
		r.wishes = preferencesOf(in)
		r.preferred = r.wishes.any(in.Snapshot, in.Pods)
	}
	for _, x := range relaxations() {
		for range x.rounds {
			if !x.next(&r) {
				break
			}
			found := find(r.question(&x), log)
			found.stats.Waived = r.wishes.waived(in.Pods)
			r.last, r.quick = found, x.quick
			r.short = len(found.Unplaced) > 0 || r.short
			if r.best.Plan == nil || x.keeps(r.in.Snapshot, found, r.best) {
				r.best = found
			}
		}
	}
	return r.best
}

func (r *relaxer) question(x *relaxation) question {
	q := question{name: x.name, in: r.in, required: r.in.Snapshot.Specs, quick: x.quick, outpacked: r.last.outpacked}
	if r.preferred {
		q.in, q.required = withPreferences(&r.in, &r.wishes)
	}
	q.in.Effort = min(r.in.Effort, x.effort)
	return q
}

// nothingPreferred applies when there are no preferences.
func nothingPreferred(r *relaxer) bool { return !r.preferred }

func somethingPreferred(r *relaxer) bool { return r.preferred }

// fewerPreferences applies when unplaced pods have preferences in force. Each of these
// pods gives up one.
func fewerPreferences(r *relaxer) bool {
	return r.preferred && !r.log.budget.Spent() && r.wishes.drop(r.in.Snapshot, r.best.Unplaced, 1)
}

// noneOfLeftOut applies when unplaced pods still have preferences in force. They give up
// all of them.
func noneOfLeftOut(r *relaxer) bool {
	return r.preferred && r.wishes.drop(r.in.Snapshot, r.best.Unplaced, math.MaxInt32)
}

// leftPodsOut applies when preferences could not all be met, since the plan was then
// made with little effort.
func leftPodsOut(r *relaxer) bool { return r.preferred && r.short && r.quick }

func always(*model.Snapshot, outcome, outcome) bool { return true }

// placesMore reports whether a plan leaves out fewer of the most urgent pods than the one before.
func placesMore(s *model.Snapshot, found, before outcome) bool {
	return leavesOut(s, found, before) < 0
}

// placesAsMany reports whether a plan leaves out no more of the most urgent pods than the one before.
func placesAsMany(s *model.Snapshot, found, before outcome) bool {
	return leavesOut(s, found, before) <= 0
}

// atLeastAsGood reports whether a plan leaves out fewer of the most urgent pods than the one
// before, or as many of each priority at no higher cost.
func atLeastAsGood(s *model.Snapshot, found, before outcome) bool {
	return cmp.Or(leavesOut(s, found, before), cmp.Compare(found.cost(), before.cost())) <= 0
}
