package backtest

import (
	"context"
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"spokeshave.dev/controller/core/model"
)

// Budget is a PodDisruptionBudget whose pods come and go.
type Budget struct {
	model.PodBudget

	// Away is how many pods may be without a node, of so many that there should
	// be.
	Away func(expected int) int
}

// budgetsOf pairs lowered budgets with what their manifests allow, whatever
// their status says of the moment.
func budgetsOf(sources []*policyv1.PodDisruptionBudget, lowered []model.PodBudget) []Budget {
	var out []Budget
	for _, b := range lowered {
		at := slices.IndexFunc(sources, func(p *policyv1.PodDisruptionBudget) bool { return p.Namespace == b.Namespace && p.Name == b.Name })
		if at < 0 {
			continue
		}
		spec := &sources[at].Spec
		out = append(out, Budget{PodBudget: b, Away: func(expected int) int {
			if spec.MaxUnavailable != nil {
				return parts(spec.MaxUnavailable, expected)
			}
			return expected - parts(spec.MinAvailable, expected)
		}})
	}
	return out
}

// parts is a number, or a percentage rounded up, as the disruption controller
// takes both fields. What cannot be read is nothing.
func parts(v *intstr.IntOrString, of int) int {
	if v == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(v, of, true)
	if err != nil {
		return 0
	}
	return n
}

// count is how many pods of a budget there should be, and how many run.
func (w *world) count(b *Budget) (expected, running int) {
	for _, p := range w.pods {
		if p.gone || p.daemon || !w.selects(b, p) {
			continue
		}
		expected++
		if p.node != nil {
			running++
		}
	}
	return expected, running
}

func (w *world) selects(b *Budget, p *pod) bool {
	s := &w.base.Specs[p.Spec]
	return b.Selector.Matches(s.Namespace, s.Labels)
}

// spare is how many more pods of a budget may leave their nodes now.
func (w *world) spare(b *Budget) int {
	expected, running := w.count(b)
	return max(0, b.Away(expected)-(expected-running))
}

// evictable says whether the pod's budgets let it go. The Eviction API takes
// pods of one budget at most.
func (w *world) evictable(p *pod) bool {
	of := 0
	for i := range w.cfg.Workload.Budgets {
		b := &w.cfg.Workload.Budgets[i]
		if !w.selects(b, p) {
			continue
		}
		if of++; of > 1 || w.spare(b) == 0 {
			return false
		}
	}
	return true
}

// podBudgets are the budgets as a decision sees them.
func (w *world) podBudgets() []model.PodBudget {
	var out []model.PodBudget
	for i := range w.cfg.Workload.Budgets {
		b := w.cfg.Workload.Budgets[i].PodBudget
		b.Allowed = int32(w.spare(&w.cfg.Workload.Budgets[i]))
		out = append(out, b)
	}
	return out
}

// evictAgain is how often a drain tries what a budget has refused.
const evictAgain = 10 * time.Second

// draining is a node that is being emptied.
type draining struct {
	*world
	m *machine
	// until is when the instance takes with it what is left; zero for never.
	until   time.Time
	evicted []*pod
	// done is called at the end.
	done func(evicted []*pod)
}

// drain evicts what budgets let go, again and again until the node is empty, or
// until the time given has come: then the instance takes with it what is left.
// Zero is no such time. done is called at the end.
func (w *world) drain(ctx context.Context, m *machine, until time.Time, done func(evicted []*pod)) {
	(&draining{world: w, m: m, until: until, done: done}).round(ctx)
}

func (d *draining) round(ctx context.Context) {
	if d.m.gone {
		return
	}
	if d.evictAll() {
		for _, p := range slices.Clone(d.m.pods) {
			d.evict(p)
		}
		d.stop(ctx, d.m)
		d.done(d.evicted)
		return
	}
	when := d.now().Add(evictAgain)
	if !d.until.IsZero() && when.After(d.until) {
		when = d.until
	}
	d.at(when, func(ctx context.Context) error {
		d.round(ctx)
		return nil
	})
	d.decideBy(d.now().Add(d.cfg.Batch)) // they need places before they can go
}

// evictAll evicts what may go now, and says whether nothing is left.
func (d *draining) evictAll() bool {
	last, all := !d.until.IsZero() && !d.now().Before(d.until), true
	for _, p := range slices.Clone(d.m.pods) {
		switch {
		case p.daemon:
		case !last && !d.evictable(p):
			all = false
		default:
			if next := d.evict(p); next != nil {
				d.evicted = append(d.evicted, next)
			}
		}
	}
	return all
}
