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
