package static

import (
	"cmp"
	"slices"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// candidate is a node that could be removed.
type candidate struct {
	claim *karpv1.NodeClaim
	// initialized says that the node is initialized; protected that an annotation asks not
	// to disrupt it.
	initialized, drifted, protected bool
	// pods is the number of pods that would have to move.
	pods int
}

// deletionOrder sorts the nodes in the order of removal: unprotected before protected
// ones, then uninitialized before initialized ones, then by the number of pods; of
// equal ones drifted before others, then the youngest first.
func deletionOrder(in []candidate) []candidate {
	out := slices.Clone(in)
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(
			falseFirst(a.protected, b.protected), falseFirst(a.initialized, b.initialized), cmp.Compare(a.pods, b.pods), falseFirst(!a.drifted, !b.drifted),
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
