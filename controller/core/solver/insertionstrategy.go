package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
)

// insertionStrategy is a way of placing pods one by one.
type insertionStrategy struct {
	// bestFit places a pod where it adds least to the cost; otherwise it goes to the
	// first node that takes it.
	bestFit bool
	// unconstrainedFirst places the pods without constraints on other pods first.
	// Constraints of other pods may still count them.
	unconstrainedFirst bool
	// bySize sorts by the sum of all requests; otherwise by the first resource.
	bySize bool
	// fixedZone opens each node in one zone and with one capacity type, even if no
	// constraint requires that.
	fixedZone bool
	// deferredSpread lets pods violate the spread of earlier pods for a time, as later
	// pods may restore it. There is no plan when it does not hold in the end.
	deferredSpread bool
	// failures[c] counts the earlier trials in which pods of class c were left out.
	// Classes are tried in descending order of it. nil means no earlier trials.
	failures []int32
	// affinityTargetsFirst first places the pods that the affinity of failed classes
	// selects, instead of the failed classes themselves.
	affinityTargetsFirst bool
}

// failedBefore reports whether an earlier trial left out pods of the class.
func (by *insertionStrategy) failedBefore(c int32) bool {
	return by.failures != nil && by.failures[c] > 0
}

// order returns the order in which classes are placed.
func (by *insertionStrategy) order(p *problem.Problem) []int32 {
	order := make([]int32, len(p.Classes))
	for c := range order {
		order[c] = int32(c)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return p.Classes[b].Requests.Compare(&p.Classes[a].Requests) })
	if by.bySize {
		slices.SortStableFunc(order, func(a, b int32) int {
			return cmp.Compare(p.Size(&p.Classes[b].Requests), p.Size(&p.Classes[a].Requests))
		})
	}
	if by.unconstrainedFirst {
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(hasRules(&p.Classes[a]), hasRules(&p.Classes[b])) })
	}
	switch {
	case by.affinityTargetsFirst:
		wanted := make([]int, len(p.Classes))
		for c := range wanted {
			wanted[c] = by.isAffinityTarget(p, int32(c))
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(wanted[b], wanted[a]) })
	case by.failures != nil:
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(by.failures[b], by.failures[a]) })
	}
	return order
}

// isAffinityTarget is 1 for a class that the affinity of a class that failed before
// selects, 0 otherwise.
func (by *insertionStrategy) isAffinityTarget(p *problem.Problem, c int32) int {
	if p.Classes[c].Terms == nil {
		return 0
	}
	for other := range p.Classes {
		x := p.Classes[other].Terms
		if x == nil || !by.failedBefore(int32(other)) {
			continue
		}
		for _, r := range slices.Concat(x.DomainRules, x.HostRules) {
			if r.Kind == constraint.Affinity && p.Classes[c].Terms.IsCountedBy(r.Group) {
				return 1
			}
		}
	}
	return 0
}

// hasRules is 1 for pods with constraints on other pods, 0 for the rest.
func hasRules(c *problem.Class) int {
	if c.Terms != nil && len(c.Terms.DomainRules)+len(c.Terms.HostRules) > 0 {
		return 1
	}
	return 0
}
