package ec2

import (
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

// fleetRun is a fleet being fulfilled.
type fleetRun struct {
	fleets *fleets
	call   *operation.Call
	tags   tag.Set
	origin instance
	out    createFleetResult
}

// fulfil draws on the pools in order until the target is met. Pools passed over
// on the way leave an error each; those never reached leave none, unless the
// fleet gave up before them.
func (f *fleetRun) fulfil(pools []*candidate, target int) {
	left := float64(target)
	tried := 0
	for _, pool := range pools {
		if left <= 0 {
			return
		}
		if limit := f.fleets.attempts; limit > 0 && tried >= limit {
			f.refuse(pool, awserr.New(awserr.Unfulfillable, "Unable to fulfill capacity due to your request configuration. Please adjust your request and try again."))
			continue
		}
		tried++
		started, err := f.draw(pool, left)
		left -= float64(len(started)) * pool.weight
		f.add(pool, started)
		if err != nil {
			f.refuse(pool, err)
		}
	}
}

// draw starts instances from a pool until it has none left or the need is met.
func (f *fleetRun) draw(pool *candidate, need float64) (started []*instance, err error) {
	if pool.err != nil {
		return nil, pool.err
	}
	for ; need > 0; need -= pool.weight {
		if err := f.fleets.launcher.available(f.call, &pool.spec); err != nil {
			return started, err
		}
		i, err := f.fleets.launcher.start(f.call, pool.spec, f.tags, f.origin)
		if err != nil {
			return started, err
		}
		started = append(started, i)
	}
	return started, nil
}

// add records what a pool gave.
func (f *fleetRun) add(pool *candidate, started []*instance) {
	if len(started) == 0 {
		return
	}
	entry := fleetInstance{
		From: pool.from, Lifecycle: started[0].lifecycle(), Type: pool.spec.kind.Name, Platform: pool.spec.image.platform(),
		SubnetID: pool.spec.subnet.id, Zone: pool.spec.zone.Name, ZoneID: pool.spec.zone.ID,
	}
	for _, i := range started {
		entry.IDs = append(entry.IDs, i.id)
	}
	f.out.Instances = append(f.out.Instances, entry)
}

// refuse records a pool's error. A type that the zone does not sell, or that
// does not exist, is an invalid configuration in the words of fleets.
func (f *fleetRun) refuse(pool *candidate, err error) {
	code, message := awserr.Of(err).Code, awserr.Of(err).Message
	lifecycle := string(pool.spec.capacityType())
	switch {
	case pool.spec.kind == nil:
		code = "InvalidFleetConfiguration"
		message = "Your requested instance type (" + pool.data.InstanceType + ") is not supported in your requested Availability Zone (" + pool.from.Overrides.AvailabilityZone + ")."
	case code == "Unsupported":
		code = "InvalidFleetConfiguration"
	}
	f.out.Errors = append(f.out.Errors, fleetError{pool.from, lifecycle, code, message})
}
