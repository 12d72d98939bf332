package backtest

import (
	"context"
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"spokeshave.dev/controller/core/model"
)

// Budget is a PodDisruptionBudget whose allowed disruptions are computed as pods come
// and go.
type Budget struct {
	model.PodBudget

	// Away returns how many of the expected pods may be without a node at the same
	// time.
	Away func(expected int) int
}

// budgetsOf combines lowered budgets with the limits in their manifests. It ignores the
// status of the manifests.
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
				return scaledValue(spec.MaxUnavailable, expected)
			}
			return expected - scaledValue(spec.MinAvailable, expected)
		}})
	}
	return out
}

// scaledValue returns a number, or a percentage of of rounded up, as the disruption
// controller reads both fields. An invalid value is 0.
func scaledValue(v *intstr.IntOrString, of int) int {
	if v == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(v, of, true)
	if err != nil {
		return 0
	}
	return n
}

// count returns how many pods of a budget are expected, and how many run.
func (w *simulation) count(b *Budget) (expected, running int) {
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

func (w *simulation) selects(b *Budget, p *pod) bool {
	s := &w.base.Specs[p.Spec]
	return b.Selector.Matches(s.Namespace, s.Labels)
}

// disruptionsAllowed returns how many more pods of a budget may leave their nodes now.
func (w *simulation) disruptionsAllowed(b *Budget) int {
	expected, running := w.count(b)
	return max(0, b.Away(expected)-(expected-running))
}

// evictable reports whether the pod's budgets allow its eviction. The Eviction API
// refuses pods that several budgets select.
func (w *simulation) evictable(p *pod) bool {
	of := 0
	for i := range w.cfg.Workload.Budgets {
		b := &w.cfg.Workload.Budgets[i]
		if !w.selects(b, p) {
			continue
		}
		if of++; of > 1 || w.disruptionsAllowed(b) == 0 {
			return false
		}
	}
	return true
}

// podBudgets returns the budgets as the snapshot contains them.
func (w *simulation) podBudgets() []model.PodBudget {
	var out []model.PodBudget
	for i := range w.cfg.Workload.Budgets {
		b := w.cfg.Workload.Budgets[i].PodBudget
		b.Allowed = int32(w.disruptionsAllowed(&w.cfg.Workload.Budgets[i]))
		out = append(out, b)
	}
	return out
}

// evictAgain is how often a drain repeats an eviction that a budget refused.
const evictAgain = 10 * time.Second

// draining is a node that is being emptied.
type draining struct {
	*simulation
	m *machine
	// until is when the instance ends together with the remaining pods; zero for never.
	until   time.Time
	evicted []*pod
	// done is called at the end.
	done func(evicted []*pod)
}

// drain evicts the pods that budgets allow, repeatedly until the node is empty or until
// until; then the instance ends together with the remaining pods. A zero until sets no
// limit. done is called at the end.
func (w *simulation) drain(ctx context.Context, m *machine, until time.Time, done func(evicted []*pod)) {
	(&draining{simulation: w, m: m, until: until, done: done}).round(ctx)
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
	d.decideBy(d.now().Add(d.cfg.Batch)) // the next decision plans other nodes for the pods
}

// evictAll evicts the pods that may leave now, and reports whether none is left.
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
