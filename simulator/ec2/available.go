package ec2

import (
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
)

// available says why a pool cannot give one more instance now: what AWS
// reports for pools without capacity, above the price, or beyond the quota.
func (s *launcher) available(c *operation.Call, l *launchSpec) error {
	pool := l.option()
	if f := s.faults.TakePool(c.Action, pool); f != nil {
		if f.Message == "" {
			return s.market.SoldOut(pool)
		}
		return f
	}
	price := s.market.Price(pool)
	if price <= 0 {
		return awserr.New("Unsupported", "Your requested instance type (%s) is not supported in your requested Availability Zone (%s).", pool.InstanceType, pool.Zone)
	}
	if l.spot && l.maxPrice > 0 && l.maxPrice < price {
		return awserr.New("SpotMaxPriceTooLow", "Your Spot request price of %s is lower than the minimum required Spot request fulfillment price of %s.",
			market.Dollars(l.maxPrice), market.Dollars(price))
	}
	if id := l.data.target(); id != "" {
		if err := s.reservations.reservable(c, l, id); err != nil {
			return err
		}
	} else if s.market.Empty(pool) || s.dry(pool, c.Now) {
		return s.market.SoldOut(pool)
	}
	if l.subnet.free() <= 0 {
		return l.subnet.full()
	}
	return s.withinQuota(c.Now, l)
}

// withinQuota checks the account's vCPU quotas.
// https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html
func (s *launcher) withinQuota(now time.Time, l *launchSpec) error {
	switch {
	case l.spot && s.quota.SpotVCPUs > 0 && s.instances.vcpusInUse(now, model.Spot)+l.kind.VCPU > s.quota.SpotVCPUs:
		return awserr.New("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
	case !l.spot && s.quota.OnDemandVCPUs > 0 && s.instances.vcpusInUse(now, model.OnDemand)+l.kind.VCPU > s.quota.OnDemandVCPUs:
		return awserr.New("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of %d allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.", s.quota.OnDemandVCPUs)
	default:
		return nil
	}
}
