package lower

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Memo keeps the encoding of each pod from one Build to the next, so that the next
// Build encodes only pods that have changed. The zero value is empty. It serves one
// Build at a time, and drops pods that a Build does not see.
type Memo struct {
	last, next map[types.UID]remembered
	// round is the number of Builds so far.
	round uint64
	// dropped is the set of labels that the encodings leave out.
	dropped numbering
}

type remembered struct {
	version string
	*known
}

// begin starts a Build. Encodings that left out another set of labels are dropped.
func (m *Memo) begin(pods int, dropped numbering) {
	if m != nil {
		m.round++
		if m.dropped != dropped {
			m.last, m.dropped = nil, dropped
		}
		m.next = make(map[types.UID]remembered, pods)
	}
}

// end makes the entries of this Build those of the next.
func (m *Memo) end() {
	if m != nil {
		m.last, m.next = m.next, nil
	}
}

// recall returns the entry of a pod whose resource version has not changed, nil for any
// other.
func (m *Memo) recall(pod *corev1.Pod) *known {
	if m == nil || pod.ResourceVersion == "" {
		return nil
	}
	r, ok := m.last[pod.UID]
	if !ok || r.version != pod.ResourceVersion {
		return nil
	}
	m.next[pod.UID] = r
	return r.known
}

// keep stores the entry of a pod whose encoding depends on nothing but the pod. It does
// not store pods with volume claims or without a resolved priority: claims, volumes and
// priority classes can change while the pod does not.
func (m *Memo) keep(pod *corev1.Pod, k *known) {
	if m == nil || pod.ResourceVersion == "" || pod.Spec.Priority == nil {
		return
	}
	for i := range pod.Spec.Volumes {
		if name, _ := claimOf(pod, &pod.Spec.Volumes[i]); name != "" {
			return
		}
	}
	m.next[pod.UID] = remembered{pod.ResourceVersion, k}
}
