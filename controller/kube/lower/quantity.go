package lower

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"spokeshave.dev/controller/core/model"
)

// Resources converts a list: cpu in millicores, everything else in bytes or
// units, both rounded up. Negative amounts count as 0.
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

// maxAmount bounds every amount, so that sums over a cluster cannot overflow.
const maxAmount = int64(1) << 56

// Amount converts one quantity in the unit of the named resource.
func Amount(name string, q resource.Quantity) int64 {
	if name != model.CPU {
		return max(0, min(q.Value(), maxAmount))
	}
	if q.Value() > math.MaxInt64/2000 {
		return maxAmount
	}
	return max(0, min(q.MilliValue(), maxAmount))
}

// positive drops what is 0: a pod that asks for none of a resource does not
// care whether nodes have it.
func positive(r model.Resources) model.Resources {
	for name, n := range r {
		if n == 0 {
			delete(r, name)
		}
	}
	return r
}
