package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	quantities "spokeshave.dev/api/quantity"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
)

// amount is a resource amount in an exported catalogue: a Kubernetes quantity
// string ("3920m", "16Gi"), or a plain number when read.
type amount string

// UnmarshalJSON implements json.Unmarshaler.
func (a *amount) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(a))
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return errors.New("want a quantity such as \"3920m\" or a number")
	}
	*a = amount(n)
	return nil
}

func amounts(r model.Resources) map[string]amount {
	out := make(map[string]amount, len(r))
	for name, n := range r {
		out[name] = format(name, n)
	}
	return out
}

// format writes the shortest exact quantity: 4, 3920m, 16Gi, 7077Mi.
func format(name string, n int64) amount {
	switch {
	case name == model.CPU && n%1000 != 0:
		return amount(strconv.FormatInt(n, 10) + "m")
	case name == model.CPU:
		return amount(strconv.FormatInt(n/1000, 10))
	case name != model.Memory && name != model.EphemeralStorage:
		return amount(strconv.FormatInt(n, 10))
	case n != 0 && n%gib == 0:
		return amount(strconv.FormatInt(n/gib, 10) + "Gi")
	case n != 0 && n%mib == 0:
		return amount(strconv.FormatInt(n/mib, 10) + "Mi")
	default:
		return amount(strconv.FormatInt(n, 10))
	}
}

// maxAmount is the largest amount of a resource, 2^52 (four pebibytes in bytes), so
// that sums do not overflow.
const maxAmount = int64(1) << 52

func resources(in map[string]amount) (model.Resources, error) {
	out := make(model.Resources, len(in))
	for name, a := range in {
		q, err := quantities.Parse(string(a))
		if err != nil {
			return nil, fmt.Errorf("%s: %q is not a quantity", name, a)
		}
		most := maxAmount
		if name == model.CPU {
			most /= 1000
		}
		if q.Sign() < 0 || q.CmpInt64(most) > 0 {
			return nil, fmt.Errorf("%s: %s is out of range", name, a)
		}
		out[name] = quantity.Amount(name, q)
	}
	return out, nil
}
