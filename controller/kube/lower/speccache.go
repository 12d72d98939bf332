package lower

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SpecCache keeps the encoding of each pod from one Build to the next, so that the next
// Build encodes only pods that have changed. The zero value is empty. It serves one
// Build at a time, and drops pods that a Build does not see.
type SpecCache struct {
	previous, current map[types.UID]cacheEntry
	// round is the number of Builds so far.
	round uint64
	// droppedLabels is the set of labels that the encodings leave out.
	droppedLabels labelSet
}

type cacheEntry struct {
	version string
	*internedSpec
}

// begin starts a Build. Encodings that left out another set of labels are dropped.
func (m *SpecCache) begin(pods int, dropped labelSet) {
	if m != nil {
		m.round++
		if m.droppedLabels != dropped {
			m.previous, m.droppedLabels = nil, dropped
		}
		m.current = make(map[types.UID]cacheEntry, pods)
	}
}

// end makes the entries of this Build those of the next.
func (m *SpecCache) end() {
	if m != nil {
		m.previous, m.current = m.current, nil
	}
}

// get returns the entry of a pod whose resource version has not changed, nil for any
// other.
func (m *SpecCache) get(pod *corev1.Pod) *internedSpec {
	if m == nil || pod.ResourceVersion == "" {
		return nil
	}
	r, ok := m.previous[pod.UID]
	if !ok || r.version != pod.ResourceVersion {
		return nil
	}
	m.current[pod.UID] = r
	return r.internedSpec
}

// put stores the entry of a pod whose encoding depends on nothing but the pod. It does
// not store pods with volume claims or without a resolved priority: claims, volumes and
// priority classes can change while the pod does not.
func (m *SpecCache) put(pod *corev1.Pod, k *internedSpec) {
	if m == nil || pod.ResourceVersion == "" || pod.Spec.Priority == nil {
		return
	}
	for i := range claimVolumes(pod) {
		if name, _ := claimOf(pod, &pod.Spec.Volumes[i]); name != "" {
			return
		}
	}
	m.current[pod.UID] = cacheEntry{pod.ResourceVersion, k}
}
