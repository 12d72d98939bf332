package market

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/core/model"
)

// Discount makes billed prices of list prices: an enterprise discount, a
// Savings Plan, reserved instances. The first discount that matches an offering
// counts; the others do not add to it.
type Discount struct {
	// InstanceType matches one type, Family all of a family such as m7i; at most
	// one of the two. Neither matches everything.
	InstanceType string `json:"instanceType,omitempty"`
	Family       string `json:"family,omitempty"`
	// CapacityType is on-demand or spot; empty matches both.
	CapacityType model.CapacityType `json:"capacityType,omitempty"`
	// Share is taken off the list price: 0.25 leaves three quarters.
	Share *float64 `json:"share,omitempty"`
	// HourlyUSD replaces the list price. It needs an instance type.
	HourlyUSD *float64 `json:"hourlyUSD,omitempty"`
}

// ParseDiscounts reads a list of discounts, in YAML under the key discounts:
//
//	discounts:
//	- {family: m7i, capacityType: on-demand, share: 0.28}
//	- {instanceType: p5.48xlarge, hourlyUSD: 55.04}
//	- {share: 0.05}
func ParseDiscounts(text []byte) ([]Discount, error) {
	var file struct {
		Discounts []Discount `json:"discounts"`
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		return nil, fmt.Errorf("read discounts: %w", err)
	}
	for i := range file.Discounts {
		if err := file.Discounts[i].check(); err != nil {
			return nil, fmt.Errorf("read discounts: number %d: %w", i+1, err)
		}
	}
	return file.Discounts, nil
}

func (d *Discount) check() error {
	switch {
	case d.InstanceType != "" && d.Family != "":
		return errors.New("instanceType and family exclude each other")
	case d.InstanceType != "" && !strings.Contains(d.InstanceType, "."):
		return fmt.Errorf("instanceType %q: want a type such as m7i.large; use family for all of a family", d.InstanceType)
	case d.CapacityType != "" && d.CapacityType != model.OnDemand && d.CapacityType != model.Spot:
		return fmt.Errorf("capacityType %q: want on-demand or spot", d.CapacityType)
	case (d.Share == nil) == (d.HourlyUSD == nil):
		return errors.New("set either share or hourlyUSD")
	case d.Share != nil && !(*d.Share >= 0 && *d.Share <= 1):
		return fmt.Errorf("share %v: want 0 to 1, the part that is taken off", *d.Share)
	case d.HourlyUSD != nil && !(*d.HourlyUSD >= 0 && *d.HourlyUSD <= model.MaxPrice.USD()):
		return fmt.Errorf("hourlyUSD %v: want dollars per hour, 0 or more and at most %.0f", *d.HourlyUSD, model.MaxPrice.USD())
	case d.HourlyUSD != nil && d.InstanceType == "":
		return errors.New("hourlyUSD needs an instanceType: types of a family differ in price")
	default:
		return nil
	}
}

func (d *Discount) matches(instanceType string, ct model.CapacityType) bool {
	family, _, _ := strings.Cut(instanceType, ".")
	return (d.InstanceType == "" || d.InstanceType == instanceType) &&
		(d.Family == "" || d.Family == family) &&
		(d.CapacityType == "" || d.CapacityType == ct)
}

// billed replaces list prices by billed ones, and keeps the list price beside.
func billed(types []model.InstanceType, discounts []Discount) {
	for i := range types {
		for j := range types[i].Offerings {
			o := &types[i].Offerings[j]
			for k := range discounts {
				if d := &discounts[k]; d.matches(types[i].Name, o.CapacityType) {
					o.List, o.Price = o.Price, d.of(o.Price)
					break
				}
			}
		}
	}
}

func (d *Discount) of(list model.Price) model.Price {
	if d.HourlyUSD != nil {
		return model.PriceOf(*d.HourlyUSD)
	}
	return model.Price(math.Round(float64(list) * (1 - *d.Share)))
}
