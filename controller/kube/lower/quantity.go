package lower

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"spokeshave.dev/controller/core/model"
)

// Resources converts a resource list: cpu to millicores, everything else to bytes or
// units, both rounded up. Negative amounts become 0, and none exceeds 2^56.
func Resources(list corev1.ResourceList) model.Resources {
	out := make(model.Resources, len(list))
	for name, q := range list {
		out[string(name)] = Amount(string(name), q)
	}
	return out
}

// ResourceList converts amounts back to Kubernetes quantities. It is never nil.
func ResourceList(in model.Resources) corev1.ResourceList {
	out := make(corev1.ResourceList, len(in))
	for name, n := range in {
		switch name {
		case model.CPU:
			out[corev1.ResourceCPU] = *resource.NewMilliQuantity(n, resource.DecimalSI)
		case model.Memory, model.EphemeralStorage:
			out[corev1.ResourceName(name)] = *resource.NewQuantity(n, resource.BinarySI)
		default:
			out[corev1.ResourceName(name)] = *resource.NewQuantity(n, resource.DecimalSI)
		}
	}
	return out
}

// maxAmount is the largest amount of a resource, so that sums over a cluster do not
// overflow.
const maxAmount = int64(1) << 56

// Amount converts one quantity: cpu to millicores, any other resource to bytes or
// units. The result is from 0 to maxAmount.
func Amount(name string, q resource.Quantity) int64 {
	if name != model.CPU {
		return max(0, min(q.Value(), maxAmount))
	}
	if q.Value() > math.MaxInt64/2000 {
		return maxAmount
	}
	return max(0, min(q.MilliValue(), maxAmount))
}

// positive deletes amounts of 0: a pod that requests none of a resource fits nodes
// without it.
func positive(r model.Resources) model.Resources {
	for name, n := range r {
		if n == 0 {
			delete(r, name)
		}
	}
	return r
}
