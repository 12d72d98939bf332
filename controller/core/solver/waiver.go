package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// waiver is the search for the fewest pods that have to give their preferences up so
// that others find a place.
type waiver struct {
	// pods have preferences in force and are sorted in the order in which Karpenter plans
	// pods: the last ones give way. before is what each pod had given up until then.
	pods, before []int32
	// all is the plan in which all of pods give way; until it is made, the one in which none
	// does. More of them than enough are not needed, as many as tooFew are not sufficient. tried
	// is how many gave way in the last round, 0 for all.
	all                   outcome
	tooFew, enough, tried int
}

// noPreferences applies when pods are left out although they have no preferences any
// more, possibly because of those of others. It drops all preferences.
func noPreferences(r *relaxer) bool {
	w := &r.waiver
	for _, i := range r.in.Pods {
		if r.preferred && len(r.best.Unplaced) > 0 && r.wishes.inForce(r.in.Snapshot, i) > 0 {
			w.pods = append(w.pods, i)
		}
	}
	if len(w.pods) == 0 {
		return false
	}
	slices.SortStableFunc(w.pods, func(a, b int32) int { return inQueue(r.in.Snapshot, a, b) })
	w.all, w.before, w.enough = r.best, r.wishes.lost, len(w.pods)
	r.wishes.lost = w.with(r.in.Snapshot, &r.wishes, len(w.pods))
	return true
}

// inQueue compares two pods by their place in the queue: priority, CPU, memory, name.
func inQueue(s *model.Snapshot, a, b int32) int {
	p, q := &s.Pods[a], &s.Pods[b]
	x, y := &s.Specs[p.Spec], &s.Specs[q.Spec]
	return cmp.Or(
		cmp.Compare(y.Priority, x.Priority),
		cmp.Compare(y.Requests["cpu"], x.Requests["cpu"]),
		cmp.Compare(y.Requests["memory"], x.Requests["memory"]),
		cmp.Compare(p.Namespace, q.Namespace), cmp.Compare(p.Name, q.Name),
	)
}

// fewestWaive applies while it is not known how few pods have to give way. It lets half
// as many of them do so as are not decided.
func fewestWaive(r *relaxer) bool {
	w := &r.waiver
	switch {
	case len(w.pods) == 0:
		return false
	case w.tried == 0: // all of them gave way
		if !placesMore(r.in.Snapshot, r.last, w.all) {
			return false
		}
		w.all = r.last
	case placesAsMany(r.in.Snapshot, r.last, w.all):
		w.enough = w.tried
	default:
		w.tooFew = w.tried
	}
	if w.enough-w.tooFew <= 1 || r.log.budget.AllSpent() {
		return false
	}
	w.tried = (w.tooFew + w.enough) / 2
	r.wishes.lost = w.with(r.in.Snapshot, &r.wishes, w.tried)
	return true
}

// with returns what each pod has given up when the last n of the pods give way.
func (w *waiver) with(s *model.Snapshot, p *preferences, n int) []int32 {
	out := slices.Clone(w.before)
	for _, i := range w.pods[len(w.pods)-n:] {
		out[i] = int32(len(p.bySpec[s.Pods[i].Spec]))
	}
	return out
}
