package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// Keys of the taints that the controller puts on nodes.
const (
	// TaintKeyUnregistered keeps pods off a node until its NodeClaim has been matched to it.
	TaintKeyUnregistered = Group + "/unregistered"
	// TaintKeyDisrupted keeps new pods off a node that is about to be disrupted.
	TaintKeyDisrupted = Group + "/disrupted"
)

// UnregisteredTaint is the taint a node joins with and loses at registration.
func UnregisteredTaint() corev1.Taint {
	return corev1.Taint{Key: TaintKeyUnregistered, Effect: corev1.TaintEffectNoExecute}
}

// DisruptedTaint is the taint a node bears while it is drained.
func DisruptedTaint() corev1.Taint {
	return corev1.Taint{Key: TaintKeyDisrupted, Effect: corev1.TaintEffectNoSchedule}
}
