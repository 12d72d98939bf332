package model

// Placeholder is the key of the toleration that lets placeholder pods, and no other
// pods, have nodes launched from static pools.
//
// A static pool keeps as many nodes as its replicas say. The snapshot represents
// this by as many placeholder pods, which exist in no cluster, and a node of the
// pool holds one of them. A placeholder without a node is pending, and so goes
// through ranking, ceilings, reviews and the check like any pod. The placeholder of
// a drifted node must find another node before that node is deleted.
const Placeholder = "spokeshave.dev/placeholder"

// HoldsPlace reports whether a pod with the spec is a placeholder.
func (s *PodSpec) HoldsPlace() bool { return holdsPlace(s.Tolerations) }

// Opens reports whether a pod with these tolerations may have a node launched from
// the pool: any pod for an ordinary pool, only placeholders for a static one.
func (p *Pool) Opens(tolerations []Toleration) bool {
	return p.Replicas == nil || holdsPlace(tolerations)
}

func holdsPlace(tolerations []Toleration) bool {
	for i := range tolerations {
		if tolerations[i].Key == Placeholder {
			return true
		}
	}
	return false
}
