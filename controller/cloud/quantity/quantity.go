// Package quantity converts between Kubernetes quantities and the amounts of the decision:
// whole millicores of cpu, and whole bytes or units of every other resource.
package quantity

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	quantities "spokeshave.dev/api/quantity"
	"spokeshave.dev/controller/core/model"
)

// most is the largest amount of a resource, so that sums over a cluster do not overflow.
const most = int64(1) << 56

// Amount converts one quantity: cpu to millicores, any other resource to bytes or units,
// both rounded up. The result is from 0 to 2^56.
func Amount(name string, q resource.Quantity) int64 {
	// Value and MilliValue are 0 for what int64 cannot hold, 1e20 for example.
	if q.AsApproximateFloat64() > float64(most) {
		return most
	}
	if name != model.CPU {
		return max(0, q.Value())
	}
	if q.Value() > most/1000 {
		return most
	}
	return max(0, q.MilliValue())
}

// Resources converts a resource list with Amount.
func Resources[List ~map[corev1.ResourceName]resource.Quantity](list List) model.Resources {
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

// Parse converts amounts written as Kubernetes quantities, by resource name. It is nil
// for none. The error names the resource whose amount is not a quantity.
func Parse(in map[string]string) (model.Resources, error) {
	var out model.Resources
	for name, text := range in {
		q, err := quantities.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is not a quantity such as 200m or 1Gi", name, text)
		}
		if out == nil {
			out = make(model.Resources, len(in))
		}
		out[name] = Amount(name, q)
	}
	return out, nil
}
