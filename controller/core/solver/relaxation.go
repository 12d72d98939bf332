package solver

import (
	"cmp"
	"slices"
)

// relaxation is how a solve takes what pods prefer: as requirements, some of them, or not
// at all. Pods come before preferences: none is lost over one, its own or another's.
type relaxation struct {
	// name identifies the question in Stats.Trials.
	name string
	// quick says that pods left out need not be tried again; effort bounds each
	// packing, together with Input.Effort; rounds is how often the relaxation may be
	// asked in succession.
	quick  bool
	effort int
	rounds int
	// next readies the next round and says whether it is worth its work.
	next func(*relaxer) bool
	// keeps says whether the new plan is kept, and not the one before.
	keeps func(found, before outcome) bool
}

// maxRelaxations is how often preferences are given up one by one before all are given
// up that stand in the way.
const maxRelaxations = 8

// relaxations is the list that preferences are planned by, in this order.
func relaxations() []relaxation {
	return []relaxation{
		{"as required", false, unlimited, 1, nothingPreferred, always},
		{"all preferences", true, unlimited, 1, somethingPreferred, always},
		{"fewer preferences", true, quickEffort, maxRelaxations, fewerPreferences, always},
		{"fewer preferences, improved", false, unlimited, 1, leftPodsOut, atLeastAsGood},
		{"no preferences", false, unlimited, 1, noPreferences, placesMore},
	}
}

// relaxer plans with fewer and fewer preferences.
type relaxer struct {
	in  Input
	log *trialLog
	// preferred says that there are preferences; wishes are those in force, by spec.
	preferred bool
	wishes    [][]preference
	best      outcome
	// short says that a plan with preferences left pods out.
	short bool
}

// relax plans the pods of an input with as many of their preferences as let all of
// them find a place.
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

// nothingPreferred is when there is nothing to relax.
func nothingPreferred(r *relaxer) bool { return !r.preferred }

func somethingPreferred(r *relaxer) bool { return r.preferred }

// fewerPreferences is when specs with pods left out have preferences to give up: each
// gives up one.
func fewerPreferences(r *relaxer) bool {
	return r.preferred && len(r.best.Unplaced) > 0 && !r.log.budget.Spent() && dropPreferences(r.in.Snapshot, r.best.Plan, r.wishes)
}

// leftPodsOut is when the plan was made with little effort, since all preferences could not
// be met.
func leftPodsOut(r *relaxer) bool { return r.preferred && r.short }

// noPreferences is when pods are left out, perhaps over the preferences of others: all
// are given up.
func noPreferences(r *relaxer) bool {
	if !r.preferred || len(r.best.Unplaced) == 0 || !anyInForce(r.wishes) {
		return false
	}
	r.wishes = make([][]preference, len(r.wishes))
	return true
}

func always(_, _ outcome) bool { return true }

// placesMore says whether a plan leaves out fewer pods than another.
func placesMore(found, before outcome) bool { return len(found.Unplaced) < len(before.Unplaced) }

// atLeastAsGood says whether a plan leaves out fewer pods than another, or as many at no
// more cost.
func atLeastAsGood(found, before outcome) bool {
	return cmp.Or(cmp.Compare(len(found.Unplaced), len(before.Unplaced)), cmp.Compare(found.cost(), before.cost())) <= 0
}
