// Package scope keeps the events of other controllers' objects away from reconcilers.
package scope

import (
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/managed"
)

// Managed passes the events of NodePools and NodeClaims that are this controller's, and
// of all objects of other kinds.
func Managed() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool {
		switch o := o.(type) {
		case *karpv1.NodePool:
			return managed.Pool(o)
		case *karpv1.NodeClaim:
			return managed.Claim(o)
		default:
			return true
		}
	})
}
