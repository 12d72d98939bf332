package ec2

import (
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

// fleets answers CreateFleet.
type fleets struct {
	launcher  *launcher
	templates *templates
	tokens    *tokens
	// attempts is how many pools a fleet tries before it reports the rest as
	// UnfulfillableCapacity; 0 tries them all.
	attempts int
}

// createFleet launches an instant fleet.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instant-fleet.html
func (s *fleets) createFleet(c *operation.Call, in *createFleetRequest) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return s.tokens.once(c, in.ClientToken, func() (any, error) {
		given, err := tag.For(in.TagSpecifications, "instance", "fleet", "instance", "volume", "network-interface")
		if err != nil {
			return nil, err
		}
		candidates, err := s.candidates(in)
		if err != nil {
			return nil, err
		}
		if c.DryRun {
			return nil, awserr.DryRun()
		}
		f := &fleetRun{fleets: s, call: c, tags: given, out: createFleetResult{FleetID: "fleet-" + s.launcher.ids.UUID()}}
		f.origin = instance{fleet: f.out.FleetID, reservation: s.launcher.ids.New("r"), token: in.ClientToken}
		onDemand, spot := in.Target.split()
		f.fulfil(s.order(candidates, false, in.onDemandStrategy(), c.Now), onDemand)
		f.fulfil(s.order(candidates, true, in.spotStrategy(), c.Now), spot)
		return f.out, nil
	})
}

func (in *createFleetRequest) onDemandStrategy() string {
	if in.ReservedOptions != nil && in.ReservedOptions.AllocationStrategy != "" {
		return in.ReservedOptions.AllocationStrategy
	}
	if in.OnDemandOptions == nil || in.OnDemandOptions.AllocationStrategy == "" {
		return "lowest-price"
	}
	return in.OnDemandOptions.AllocationStrategy
}

func (in *createFleetRequest) spotStrategy() string {
	if in.SpotOptions == nil || in.SpotOptions.AllocationStrategy == "" {
		return "lowest-price"
	}
	return in.SpotOptions.AllocationStrategy
}
