package static

import (
	"cmp"
	"slices"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// candidate is a node that could go.
type candidate struct {
	claim *karpv1.NodeClaim
	// up says that it takes pods, protected that somebody asked not to
	// disrupt it.
	up, drifted, protected bool
	// pods counts those that would have to move.
	pods int
}

// deletionOrder orders the nodes, the one that is missed least first: protected
// ones last, then those that take pods; fewer pods before more; of the same, a
// drifted one and then the youngest.
func deletionOrder(in []candidate) []candidate {
	out := slices.Clone(in)
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(
			falseFirst(a.protected, b.protected), falseFirst(a.up, b.up), cmp.Compare(a.pods, b.pods), falseFirst(!a.drifted, !b.drifted),
			b.claim.CreationTimestamp.Compare(a.claim.CreationTimestamp.Time), cmp.Compare(a.claim.Name, b.claim.Name),
		)
	})
	return out
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
