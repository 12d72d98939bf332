package solver

import "spokeshave.dev/controller/core/model"

// question is what a list of strategies answers.
type question struct {
	// name says which preferences are taken as requirements.
	name string
	in   Input
	// required are the specs without what is only preferred.
	required []model.PodSpec
	// quick says that pods left out need not be tried again: another question
	// with fewer preferences follows.
	quick bool
}

// search answers one question: it runs the list of strategies, each where what was
// found before makes it worth its work, and keeps the best plan.
type search struct {
	question
	log    *trialLog
	best   outcome
	packed packed
	// inserted are, by insertion, the pods that it left out. order is, by class, how often
	// its pods were left out before the best trial of those made again; nil without one.
	inserted [insertions]leftOut
	order    []int32
}

// find runs the strategies on a question.
func find(q question, log *trialLog) outcome {
	s := search{question: q, log: log}
	for _, st := range strategies() {
		st.effort = min(st.effort, q.in.Effort)
		for range st.rounds {
			why := st.next(&s, &st)
			if why == "" {
				break
			}
			log.begin(Trial{Strategy: st.name, Question: q.name, Why: why, Effort: st.effort})
			if st.options.kind < insert {
				s.pack(&st)
			} else {
				s.insert(&st)
			}
		}
	}
	return s.best
}

// consider keeps a plan that is better than the best so far, and says whether it is.
func (s *search) consider(o outcome) bool {
	better := s.best.Plan == nil || preferable(s.in.Snapshot, o, s.best)
	if better {
		s.best = o
	}
	return better
}

// first is when a question is begun.
func first(*search, *strategy) string { return "the question is new" }

// otherDomains is when pods may be assigned to domains in another order.
func otherDomains(s *search, st *strategy) string {
	if s.best.problem.counts == nil {
		return ""
	}
	return others(s, st)
}

// others is when strategies beyond the first are tried: where few pods have constraints on
// each other, or there was room on existing nodes to share out.
func others(s *search, _ *strategy) string {
	if !s.few() || len(s.best.Nodes)+len(s.best.Unplaced) == 0 {
		return ""
	}
	if len(s.best.Unplaced) > 0 {
		return "pods are left out"
	}
	return "new nodes cost something"
}

// few says whether pods and nodes are few enough for others.
func (s *search) few() bool {
	return (len(s.best.problem.topology.All) > 0 || len(s.best.Existing) > 0) && s.in.Effort > 0 &&
		len(s.in.Pods) <= maxInserted && len(s.in.Snapshot.Nodes) <= maxInserted
}
