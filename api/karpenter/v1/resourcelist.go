package v1

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"

	"spokeshave.dev/api/quantity"
)

// ResourceList is amounts by resource. The API server keeps amounts of custom resources as they were
// written, and its schema lets some pass that are none, such as 1e1.5. Reading one must neither fail, which
// would keep all objects of its kind from being read, nor compute for minutes: what is no amount is read as
// -1, and an exponent of more than three digits as 999.
type ResourceList map[corev1.ResourceName]resource.Quantity

// UnmarshalJSON implements json.Unmarshaler.
func (l *ResourceList) UnmarshalJSON(b []byte) error {
	var written map[corev1.ResourceName]json.RawMessage
	if err := kjson.UnmarshalCaseSensitivePreserveInts(b, &written); err != nil {
		return fmt.Errorf("parse amounts of resources: %w", err)
	}
	if written == nil {
		*l = nil
		return nil
	}
	out := make(ResourceList, len(written))
	for name, raw := range written {
		var q resource.Quantity
		if err := q.UnmarshalJSON(bounded(raw)); err != nil {
			q = *resource.NewQuantity(-1, resource.DecimalSI)
		}
		out[name] = writable(q)
	}
	*l = out
	return nil
}

// writable returns an amount that is written as it is. The library writes one from 1e21 on whose suffix is decimal
// without its last digits: 2000E as 2.
func writable(q resource.Quantity) resource.Quantity {
	if q.Format == resource.DecimalSI && math.Abs(q.AsApproximateFloat64()) > 0.99e21 {
		q.Format = resource.DecimalExponent
	}
	return q
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *Limits) UnmarshalJSON(b []byte) error { return (*ResourceList)(l).UnmarshalJSON(b) }

// bounded returns a quantity as JSON, text or number, that takes no time to be read. The library
// reads a text without the spaces around it.
func bounded(raw []byte) []byte {
	if n := len(raw); n > 1 && raw[0] == '"' {
		return []byte(`"` + quantity.Bounded(strings.TrimSpace(string(raw[1:n-1]))) + `"`)
	}
	return []byte(quantity.Bounded(string(raw)))
}
