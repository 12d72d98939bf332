package lower

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Memo remembers between snapshots how pods were told apart, so that the next
// Build looks closely only at pods that have changed. The zero value is empty.
// It serves one Build at a time, and forgets pods that a Build does not see.
type Memo struct {
	last, next map[types.UID]remembered
	// round counts the Builds.
	round uint64
	// dropped are the labels that the keys leave out.
	dropped numbering
}

type remembered struct {
	version string
	*known
}

// begin starts a Build. Keys that left out other labels are of no use to it.
func (m *Memo) begin(pods int, dropped numbering) {
	if m != nil {
		m.round++
		if m.dropped != dropped {
			m.last, m.dropped = nil, dropped
		}
		m.next = make(map[types.UID]remembered, pods)
	}
}

// end keeps what the Build has seen.
func (m *Memo) end() {
	if m != nil {
		m.last, m.next = m.next, nil
	}
}

// recall is what a pod that has not changed is known by, nil for others.
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

// keep remembers a pod whose key depends on nothing but itself: volumes and
// priority classes change by themselves.
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
