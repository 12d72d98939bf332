package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Keys of the taints that the controller puts on nodes.
const (
	// TaintKeyUnregistered keeps pods off a node until its NodeClaim has been matched to it.
	TaintKeyUnregistered = Group + "/unregistered"
	// TaintKeyDisrupted keeps new pods off a node that is about to be disrupted.
	TaintKeyDisrupted = Group + "/disrupted"
	// TaintKeyReserved keeps a node that has just registered for the pods that were planned on it. Its value
	// is the UID of the NodeClaim; before the node is registered it is "unregistered", which no pod
	// tolerates. It is Spokeshave's own: nothing in Karpenter reads it.
	TaintKeyReserved = Domain + "/reserved"
)

// ReservedForNobody is the value of a reservation that no pod tolerates.
const ReservedForNobody = "unregistered"

// UnregisteredTaint is the taint a node joins with and loses at registration.
func UnregisteredTaint() corev1.Taint {
	return corev1.Taint{Key: TaintKeyUnregistered, Effect: corev1.TaintEffectNoExecute}
}

// DisruptedTaint is the taint that a node has while it is drained.
func DisruptedTaint() corev1.Taint {
	return corev1.Taint{Key: TaintKeyDisrupted, Effect: corev1.TaintEffectNoSchedule}
}

// ReservedTaint keeps all pods off a claim's node but those with [ReservedToleration].
func ReservedTaint(claim types.UID) corev1.Taint {
	return corev1.Taint{Key: TaintKeyReserved, Value: string(claim), Effect: corev1.TaintEffectNoSchedule}
}

// ClosedTaint keeps all pods off a node that is not registered yet.
func ClosedTaint() corev1.Taint {
	return corev1.Taint{Key: TaintKeyReserved, Value: ReservedForNobody, Effect: corev1.TaintEffectNoSchedule}
}

// ReservedToleration lets a pod onto the node of a claim while that is reserved.
func ReservedToleration(claim types.UID) corev1.Toleration {
	return corev1.Toleration{Key: TaintKeyReserved, Operator: corev1.TolerationOpEqual, Value: string(claim), Effect: corev1.TaintEffectNoSchedule}
}
