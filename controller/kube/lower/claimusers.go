package lower

import (
	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/model"
)

// claimUsers counts, for each node and volume claim, the pods on the node that use the
// claim: a CSI driver attaches a volume once, however many pods on the node use it.
type claimUsers struct {
	volumes *volumes
	count   map[attachmentKey]int64
}

// attachmentKey names a claim (namespace/name) or a CSI driver on a node.
type attachmentKey struct {
	node int32
	id   string
}

// add counts the claims of a pod that is, or will be, on the node; nothing for node -1.
func (u *claimUsers) add(pod *corev1.Pod, node int32) {
	if node < 0 {
		return
	}
	eachClaim(pod, func(claim string) { u.count[attachmentKey{node, claim}]++ })
}

// remove reverses add for a pod that will not come to the node. It also reverses what
// shared added to the node's limits for the pod's claims, both in allocatable and in left,
// the amounts that are still free.
func (u *claimUsers) remove(pod *corev1.Pod, node int32, allocatable, left model.Resources) {
	eachClaim(pod, func(claim string) {
		at := attachmentKey{node, claim}
		if u.count[at]--; u.count[at] == 0 {
			return
		}
		name := model.VolumesPrefix + u.volumes.driver(claim, nil)
		if _, limited := allocatable[name]; limited {
			allocatable[name]--
			left[name]--
		}
	})
}

// shared returns, by node and driver, how often volumes are counted in requests beyond the
// first time.
func (u *claimUsers) shared() map[attachmentKey]int64 {
	out := map[attachmentKey]int64{}
	for at, n := range u.count {
		if n > 1 {
			out[attachmentKey{at.node, u.volumes.driver(at.id, nil)}] += n - 1
		}
	}
	return out
}

// eachClaim visits the persistent volume claims of the pod's volumes, each once, as
// namespace/name. Ephemeral volumes are left out: no other pod shares them.
func eachClaim(pod *corev1.Pod, visit func(claim string)) {
	if n := len(pod.Spec.Volumes); n == 0 || n > mostVolumes {
		return
	}
	seen := map[string]bool{}
	for i := range pod.Spec.Volumes {
		name, template := claimOf(pod, &pod.Spec.Volumes[i])
		if name == "" || seen[name] {
			continue
		}
		if seen[name] = true; template != nil {
			continue
		}
		visit(pod.Namespace + "/" + name)
	}
}
