package insertion

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// Strategy is a way of placing pods one by one.
type Strategy struct {
	// BestFit places a pod where it adds least to the cost; otherwise it goes to the
	// first node that takes it.
	BestFit bool
	// UnconstrainedFirst places the pods without constraints on other pods first.
	// Constraints of other pods may still count them.
	UnconstrainedFirst bool
	// BySize sorts by the sum of all requests; otherwise by the first resource.
	BySize bool
	// SmallFirst places small pods first, so that bounds leave out as few as possible.
	SmallFirst bool
	// ByPriority places the pods of each priority before those of the next lower one;
	// everything else decides among pods of equal priority.
	ByPriority bool
	// FewestFirst places a pod on the new node with the fewest pods that takes it.
	FewestFirst bool
	// MostUseful opens each node where the most of all pods may go, and only among equal
	// places where it is cheapest, so that few nodes are needed.
	MostUseful bool
	// FixedZone opens each node in one zone and with one capacity type, even if no
	// constraint requires that.
	FixedZone bool
	// DeferredSpread lets pods violate the spread of earlier pods for a time, as later
	// pods may restore it. There is no plan when it does not hold in the end.
	DeferredSpread bool
	// Templates are the node templates of new nodes; nil for any.
	Templates vec.Bits
	// Failures[c] counts the earlier trials in which pods of class c were left out.
	// Classes are tried in descending order of it. nil means no earlier trials.
	Failures []int32
	// AffinityTargetsFirst first places the pods that the affinity of failed classes
	// selects, instead of the failed classes themselves.
	AffinityTargetsFirst bool
}

// failedBefore reports whether an earlier trial left out pods of the class.
func (by *Strategy) failedBefore(c int32) bool {
	return by.Failures != nil && by.Failures[c] > 0
}

// order returns the order in which classes are placed.
func (by *Strategy) order(p *problem.Problem) []int32 {
	order := make([]int32, len(p.Classes))
	for c := range order {
		order[c] = int32(c)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return p.Classes[b].Requests.Compare(&p.Classes[a].Requests) })
	if by.BySize {
		slices.SortStableFunc(order, func(a, b int32) int {
			return cmp.Compare(p.Size(&p.Classes[b].Requests), p.Size(&p.Classes[a].Requests))
		})
	}
	if by.SmallFirst {
		slices.Reverse(order)
	}
	if by.UnconstrainedFirst {
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(hasRules(&p.Classes[a]), hasRules(&p.Classes[b])) })
	}
	switch {
	case by.AffinityTargetsFirst:
		wanted := make([]int, len(p.Classes))
		for c := range wanted {
			wanted[c] = by.isAffinityTarget(p, int32(c))
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(wanted[b], wanted[a]) })
	case by.Failures != nil:
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(by.Failures[b], by.Failures[a]) })
	}
	if by.ByPriority {
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(p.Classes[b].Priority, p.Classes[a].Priority) })
	}
	return order
}

// isAffinityTarget is 1 for a class that the affinity of a class that failed before
// selects, 0 otherwise.
func (by *Strategy) isAffinityTarget(p *problem.Problem, c int32) int {
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
