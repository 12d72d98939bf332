package constraint

import (
	"strings"

	"spokeshave.dev/controller/core/model"
)

// selfRemoving says whether Kubernetes or Karpenter removes the taint from a node
// once it has started: a pod planned for such a node need not tolerate it.
func selfRemoving(key string) bool {
	switch key {
	case "karpenter.sh/unregistered",
		"node.kubernetes.io/not-ready",
		"node.kubernetes.io/unreachable",
		"node.kubernetes.io/network-unavailable",
		"node.cloudprovider.kubernetes.io/uninitialized":
		return true
	}
	return strings.HasPrefix(key, "readiness.k8s.io/") // of node readiness rules
}

// AvoidSoftTaints is the key of the last toleration of pods whose preference for
// nodes without PreferNoSchedule taints is taken as a requirement.
const AvoidSoftTaints = "\x00avoid"

// avoidsSoftTaints says whether PreferNoSchedule taints exclude the pod.
func avoidsSoftTaints(tolerations []model.Toleration) bool {
	n := len(tolerations)
	return n > 0 && tolerations[n-1].Key == AvoidSoftTaints
}

// Untolerated is the first taint that the tolerations do not cover, nil when there
// is none. Taints with PreferNoSchedule count only for pods with AvoidSoftTaints.
func Untolerated(tolerations []model.Toleration, taints []model.Taint) *model.Taint {
	return model.Untolerated(tolerations, taints, avoidsSoftTaints(tolerations))
}

// PermanentTaints are the taints that a pod planned for the node must tolerate: of a
// node that is still starting, those that will not be removed by themselves.
func PermanentTaints(n *model.Node, pools []model.Pool) []model.Taint {
	if n.State != model.InFlight && n.State != model.Registered {
		return n.Taints
	}
	var startup []model.Taint
	if n.Pool >= 0 && int(n.Pool) < len(pools) {
		startup = pools[n.Pool].StartupTaints
	}
	out := make([]model.Taint, 0, len(n.Taints))
next:
	for _, t := range n.Taints {
		if selfRemoving(t.Key) {
			continue
		}
		for i := range startup {
			if startup[i].Key == t.Key && startup[i].Effect == t.Effect {
				continue next
			}
		}
		out = append(out, t)
	}
	return out
}
