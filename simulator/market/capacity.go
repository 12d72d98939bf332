package market

import (
	"fmt"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/simulator/awserr"
)

// Capacity is an order to bound what a pool can still give.
type Capacity struct {
	Type         string             `json:"type"`
	Zone         string             `json:"zone"`
	CapacityType model.CapacityType `json:"capacityType"`
	// Free is how many more instances can start; nil lifts the bound.
	Free *int `json:"free"`
}

// SetCapacity bounds pools. Instances give their place back when they end.
func (m *Market) SetCapacity(pools []Capacity) error {
	for _, p := range pools {
		if !m.Sells(p.Type, p.Zone) || (p.CapacityType != model.Spot && p.CapacityType != model.OnDemand) {
			return fmt.Errorf("capacity of %q in %q (%q): no such offering", p.Type, p.Zone, p.CapacityType)
		}
		pool := model.Option{InstanceType: p.Type, Zone: p.Zone, CapacityType: p.CapacityType}
		if p.Free == nil {
			delete(m.free, pool)
			continue
		}
		m.free[pool] = max(*p.Free, 0)
	}
	return nil
}

// Empty says that a pool is bounded and has nothing left.
func (m *Market) Empty(pool model.Option) bool {
	left, bounded := m.free[pool]
	return bounded && left <= 0
}

// Take takes one instance from a pool.
func (m *Market) Take(pool model.Option) { m.add(pool, -1) }

// Return gives one instance back to its pool.
func (m *Market) Return(pool model.Option) { m.add(pool, 1) }

func (m *Market) add(pool model.Option, n int) {
	if _, bounded := m.free[pool]; bounded {
		m.free[pool] += n
	}
}

// SoldOut is the error of a pool without capacity.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html#troubleshooting-launch-capacity
func (m *Market) SoldOut(pool model.Option) error {
	if pool.CapacityType == model.Spot {
		return awserr.New(awserr.NoCapacity, "There is no Spot capacity available that matches your request.")
	}
	var others []string
	for _, z := range m.zones {
		if z.Name != pool.Zone && m.Sells(pool.InstanceType, z.Name) {
			others = append(others, z.Name)
		}
	}
	return awserr.New(awserr.NoCapacity, "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). Our system will be working on provisioning additional capacity. You can currently get %s capacity by not specifying an Availability Zone in your request or choosing %s.",
		pool.InstanceType, pool.Zone, pool.InstanceType, strings.Join(others, ", "))
}
