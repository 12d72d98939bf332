package model

// Placeholder is the toleration by which placeholders, and no other pods, may
// have nodes launched from static pools.
//
// A static pool keeps as many nodes as its replicas say. In a snapshot that is
// as many placeholders, pods that exist nowhere else, of which a node of the
// pool holds one. Those without a node are pending, and so pass through ranking,
// ceilings, reviews and the proof as every pod does; that of a node which drifts
// has to find another node before that one goes.
const Placeholder = "spokeshave.dev/placeholder"

// HoldsPlace says whether a pod with the spec is a placeholder.
func (s *PodSpec) HoldsPlace() bool { return holdsPlace(s.Tolerations) }

// Opens says whether a pod with these tolerations may have a node launched from
// the pool, as far as the pool's being static goes.
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
