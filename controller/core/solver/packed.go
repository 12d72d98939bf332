package solver

import (
	"spokeshave.dev/controller/core/solver/colocate"
	"spokeshave.dev/controller/core/solver/domains"
)

// packed is the state of the strategies that assign pods to domains in one order.
type packed struct {
	order domains.Order
	last  answer
	// unmet are the pods whose affinity on their own node was not met in the trials
	// so far.
	unmet *colocate.Unmet
	// bundled is the best plan with bundles, nil before the first. bundles are the
	// bundles of that plan.
	bundled *outcome
	bundles *colocate.Unmet
	// leads is set when the best plan of the question is one of these.
	leads bool
}

// pack plans all pods at once.
func (s *search) pack(st *strategy) {
	in := s.in
	in.Effort = st.effort
	var bundles *colocate.Unmet
	if k := st.options.kind; k == pack || k == packImproved {
		s.packed = packed{order: st.options.domains, unmet: colocate.NewUnmet()}
	} else if bundles = s.packed.bundles; st.options.kind == packBundles {
		bundles = s.packed.unmet
	}
	a := solveWith(&in, s.required, st.options.domains, bundles)
	s.log.end(&a.outcome)
	s.log.modes(a.modes)
	s.packed.last = a
	if s.bestPacked.Plan == nil || preferable(s.in.Snapshot, a.outcome, s.bestPacked) {
		s.bestPacked = a.outcome
	}
	if bundles == nil {
		s.packed.leads = s.consider(a.outcome)
		return
	}
	s.considerBundled(a.outcome, bundles)
}

// considerBundled keeps a plan with bundles when no plan of the same order of
// domains is better. At equal cost it is preferred, since it gives better reasons
// for its unplaced pods.
func (s *search) considerBundled(o outcome, bundles *colocate.Unmet) {
	x := &s.packed
	if x.bundled == nil || !preferable(s.in.Snapshot, *x.bundled, o) {
		x.bundled, x.bundles = &o, bundles.Clone()
	}
	explain, unmet := o.explain, x.unmet
	told := o
	told.explain = func() {
		unmet.Tell()
		explain()
	}
	if x.leads && !preferable(s.in.Snapshot, s.best, told) || preferable(s.in.Snapshot, told, s.best) {
		s.best, x.leads = told, true
	}
}

// unbundled applies when the last trial left out pods that were not known to need
// bundles, or bundles that were expected to have a place. They get no effort while packing loses
// by far.
func unbundled(s *search, st *strategy) string {
	if (s.quick || s.packed.bundled != nil) && !s.packingCompetes() {
		return ""
	}
	if st.options.domains != s.packed.order || s.packed.bundled != nil && s.log.budget.Spent() || !s.packed.unmet.Record(&s.packed.last.failure) {
		return ""
	}
	if s.outpacked && s.packingLost() {
		st.effort = 0
	}
	if s.packed.bundled == nil {
		return "pods find none of those on their node whom they want there"
	}
	return "bundles find no place"
}

// roughBundles applies when the best plan with bundles was made with quickEffort or less and
// more effort is allowed.
func roughBundles(s *search, st *strategy) string {
	if st.options.domains != s.packed.order || s.packed.bundled == nil || s.quick || !s.packingCompetes() || st.effort <= quickEffort {
		return ""
	}
	return "the plan with bundles was made with little effort"
}
