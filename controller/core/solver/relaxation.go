package solver

import (
	"cmp"
	"slices"
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
	keeps func(found, before outcome) bool
}

// maxRelaxations is how many times preferences are dropped one by one before all are
// dropped that may be in the way.
const maxRelaxations = 8

// relaxations returns the relaxations in the order in which they run.
func relaxations() []relaxation {
	return []relaxation{
		{"as required", false, unlimited, 1, nothingPreferred, always},
		{"all preferences", true, unlimited, 1, somethingPreferred, always},
		{"fewer preferences", true, quickEffort, maxRelaxations, fewerPreferences, always},
		{"fewer preferences, improved", false, unlimited, 1, leftPodsOut, atLeastAsGood},
		{"no preferences", false, unlimited, 1, noPreferences, placesMore},
	}
}

// relaxer makes plans with fewer and fewer preferences.
type relaxer struct {
	in  Input
	log *trialLog
	// preferred is set when there are preferences. wishes are those in force, by
	// spec.
	preferred bool
	wishes    [][]preference
	best      outcome
	// short is set when a plan with preferences left pods out.
	short bool
}

// relax plans the pods of an input with as many of their preferences as still let
// all of them find a place.
func relax(in *Input, log *trialLog) outcome {
	r := relaxer{in: *in, log: log}
	if !in.Snapshot.Settings.IgnorePreferences {
		r.wishes = preferencesOf(in)
		r.preferred = anyInForce(r.wishes)
	}
	for _, x := range relaxations() {
		for range x.rounds {
			if !x.next(&r) {
				break
			}
			found := find(r.question(&x), log)
			r.short = len(found.Unplaced) > 0 || r.short
			if r.best.Plan == nil || x.keeps(found, r.best) {
				r.best = found
			}
		}
	}
	return r.best
}

func (r *relaxer) question(x *relaxation) question {
	q := question{name: x.name, in: r.in, required: r.in.Snapshot.Specs, quick: x.quick}
	if r.preferred {
		q.in = withPreferences(&r.in, r.wishes)
	}
	q.in.Effort = min(r.in.Effort, x.effort)
	return q
}

func anyInForce(wishes [][]preference) bool {
	return slices.ContainsFunc(wishes, func(w []preference) bool { return len(w) > 0 })
}

// nothingPreferred applies when there are no preferences.
func nothingPreferred(r *relaxer) bool { return !r.preferred }

func somethingPreferred(r *relaxer) bool { return r.preferred }

// fewerPreferences applies when specs with unplaced pods have preferences in force.
// Each of these specs drops one.
func fewerPreferences(r *relaxer) bool {
	return r.preferred && len(r.best.Unplaced) > 0 && !r.log.budget.Spent() && dropPreferences(r.in.Snapshot, r.best.Plan, r.wishes)
}

// leftPodsOut applies when preferences could not all be met, since the plan was then
// made with little effort.
func leftPodsOut(r *relaxer) bool { return r.preferred && r.short }

// noPreferences applies when pods are left out, possibly because of the preferences
// of others. It drops all preferences.
func noPreferences(r *relaxer) bool {
	if !r.preferred || len(r.best.Unplaced) == 0 || !anyInForce(r.wishes) {
		return false
	}
	r.wishes = make([][]preference, len(r.wishes))
	return true
}

func always(_, _ outcome) bool { return true }

// placesMore reports whether a plan leaves out fewer pods than the one before.
func placesMore(found, before outcome) bool { return len(found.Unplaced) < len(before.Unplaced) }

// atLeastAsGood reports whether a plan leaves out fewer pods than the one before, or
// as many at no higher cost.
func atLeastAsGood(found, before outcome) bool {
	return cmp.Or(cmp.Compare(len(found.Unplaced), len(before.Unplaced)), cmp.Compare(found.cost(), before.cost())) <= 0
}
