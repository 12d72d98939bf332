package solver

import (
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/insertion"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
)

// question is what a list of strategies answers: which pods to place and which
// preferences count.
type question struct {
	// name says which preferences count as requirements.
	name string
	in   Input
	// required are the specs without their preferences.
	required []model.PodSpec
	// quick is set when pods that are left out need not be tried again, since a
	// question with fewer preferences follows.
	quick bool
	// outpacked is set when packing lost by far on the question before. It is then made without
	// effort at first.
	outpacked bool
}

// search answers one question. It runs the list of strategies, skips those that
// cannot improve on the earlier results, and keeps the best plan.
type search struct {
	question
	log    *trialLog
	best   outcome
	packed packed
	// leftOut are, by insertion strategy, the pods that it left out. order is the
	// failure counts by class of the best repeated trial, nil without one; orderBase is the
	// insertion strategy of that trial.
	leftOut   [insertions]leftOut
	order     []int32
	orderBase int
	// bestPacked is the best plan that packs all pods at once. candidates are the
	// insertions whose pods may be packed again.
	bestPacked outcome
	candidates []*inserted
	// places are those of every insertion: their problems are equal.
	places insertion.Places
	// begun is how many strategies of the stage run before the one that is asked whether it
	// applies.
	begun int
}

// find runs the strategies on a question and returns the best plan.
func find(q question, log *trialLog) outcome {
	q.in.admissions = problem.NewAdmissions(q.in.Snapshot)
	s := search{question: q, log: log}
	for _, x := range stages() {
		for range x.rounds {
			if !s.run(&x) {
				break
			}
		}
	}
	s.repack()
	if s.recreates() {
		s.recreate()
	}
	s.best.outpacked = s.packingLost()
	return s.best
}

// run runs the strategies of a stage that apply, and reports whether there was one.
func (s *search) run(x *stage) bool {
	var applying []strategy
	var why []string
	for i := range x.strategies {
		st := x.strategies[i]
		st.effort = min(st.effort, s.in.Effort)
		s.begun = len(applying)
		if reason := st.next(s, &st); reason != "" {
			applying, why = append(applying, st), append(why, reason)
		}
	}
	if len(applying) == 0 {
		return false
	}
	if st := &applying[0]; st.options.kind < insert {
		s.log.begin(Trial{Strategy: st.name, Question: s.name, Why: why[0], Effort: st.effort})
		s.pack(st)
		return true
	}
	s.insert(applying, why)
	return true
}

// consider keeps a plan that is better than the best so far, and reports whether it
// is.
func (s *search) consider(o outcome) bool {
	better := s.best.Plan == nil || preferable(s.in.Snapshot, o, s.best)
	if better {
		s.best = o
	}
	return better
}

// first applies to every question: it starts with this strategy, without effort where packing
// lost by far on the question before.
func first(s *search, st *strategy) string {
	if s.outpacked {
		st.effort = 0
	}
	return "the question is new"
}

// roughFirst applies when the first strategy ran without effort and did not lose by far.
func roughFirst(s *search, st *strategy) string {
	if !s.outpacked || st.effort == 0 || s.packingLost() {
		return ""
	}
	return "packing was made without effort, and places about as many pods"
}

// otherDomains applies when pods may be assigned to domains in another order. It does not where
// ruin and recreate is about to give pods other domains and no node exists to fill first.
func otherDomains(s *search, st *strategy) string {
	if s.recreatesWhole() && len(s.in.Snapshot.Nodes) == 0 {
		return ""
	}
	if !slices.ContainsFunc(s.best.problem.Topology.All, func(g constraint.Group) bool { return !g.PerHost }) {
		return ""
	}
	if !s.small() && s.log.budget.Spent() || !s.packingCompetes() {
		return ""
	}
	if st.options.domains == domains.ExistingFirst && s.in.Effort <= orderEffort && s.sameAsSpreadFirst() {
		return ""
	}
	return others(s, st)
}

// sameAsSpreadFirst reports whether domains.ExistingFirst is the same order as
// domains.SpreadFirst: where no domain has a node or anything that costs nothing.
func (s *search) sameAsSpreadFirst() bool {
	return len(s.in.Snapshot.Nodes) == 0 && !slices.ContainsFunc(s.best.problem.Supply.Offers, func(o supply.Offer) bool { return o.Cost <= 0 })
}

// packingCompetes reports whether a plan that packs all pods at once leaves out no more of
// the most urgent pods than the best plan. Otherwise constraints between pods are in the way,
// which insertion sees and packing does not.
func (s *search) packingCompetes() bool {
	return leavesOut(s.in.Snapshot, s.bestPacked, s.best) <= 0
}

// packingLost reports whether packing all pods at once lost by far: of the question's pods it
// leaves out more, by a share of one in lostBy.
func (s *search) packingLost() bool {
	more := len(s.bestPacked.Unplaced) - len(s.best.Unplaced)
	return !s.packingCompetes() && more*lostBy > len(s.in.Pods)
}

// others applies to the strategies after the first: when few pods have constraints
// on each other, or existing nodes have pods assigned.
func others(s *search, _ *strategy) string {
	if !s.few() || len(s.best.Nodes)+len(s.best.Unplaced) == 0 {
		return ""
	}
	if len(s.best.Unplaced) > 0 {
		return "pods are left out"
	}
	return "new nodes cost something"
}

// stillLeftOut applies to strategies that place more pods where room is short, at a higher
// cost.
func stillLeftOut(s *search, st *strategy) string {
	if len(s.best.Unplaced) == 0 || s.log.budget.LooksSpent() {
		return ""
	}
	return others(s, st)
}

// leftOutForGood is stillLeftOut for questions that no question with fewer preferences
// follows.
func leftOutForGood(s *search, st *strategy) string {
	if s.quick {
		return ""
	}
	return stillLeftOut(s, st)
}

// lessUrgentPlaced applies as leftOutForGood does, where a pod of a lower priority than one
// that is left out has a place.
func lessUrgentPlaced(s *search, st *strategy) string {
	if leftOutForGood(s, st) == "" {
		return ""
	}
	snap, left := s.in.Snapshot, make(map[int32]bool, len(s.best.Unplaced))
	highest := int32(math.MinInt32)
	for i := range s.best.Unplaced {
		pod := s.best.Unplaced[i].Pod
		left[pod], highest = true, max(highest, snap.Specs[snap.Pods[pod].Spec].Priority)
	}
	for _, i := range s.in.Pods {
		if !left[i] && snap.Specs[snap.Pods[i].Spec].Priority < highest {
			return "pods are left out, and less urgent ones are not"
		}
	}
	return ""
}

// few reports whether there are few enough pods and nodes for the strategies of
// others. While pods with constraints on each other are left out, the budget decides.
func (s *search) few() bool {
	if len(s.best.problem.Topology.All) == 0 && len(s.best.Existing) == 0 || s.in.Effort == 0 {
		return false
	}
	return s.small() || !s.quick && s.affordsLooks() && s.leavesOutConstrained()
}

// small reports whether there are so few pods and nodes that further strategies run
// whatever they cost.
func (s *search) small() bool {
	return s.in.looks == 0 && len(s.in.Pods) <= maxInserted && len(s.in.Snapshot.Nodes) <= maxInserted
}

// affordsLooks reports whether the budget is enough for every pod to look once at every
// place, in each of the strategies that run at the same time.
func (s *search) affordsLooks() bool {
	return s.log.budget.Affords((s.begun + 1) * len(s.in.Pods) * (len(s.in.Snapshot.Nodes) + len(s.best.Nodes) + 1))
}

// leavesOutConstrained reports whether a pod is left out that has constraints on others.
func (s *search) leavesOutConstrained() bool {
	snap := s.in.Snapshot
	return slices.ContainsFunc(s.best.Unplaced, func(u model.Unplaced) bool {
		terms := s.best.problem.Topology.Of(snap.Pods[u.Pod].Spec)
		return terms != nil && len(terms.DomainRules)+len(terms.HostRules) > 0
	})
}
