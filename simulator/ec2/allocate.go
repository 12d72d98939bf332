package sim

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"spokeshave.dev/controller/core/model"
)

// candidates lays the overrides over their templates. A template that does not
// exist fails the request; what is wrong with a single override shows as an
// error of the fleet.
func (s *Server) candidates(in *createFleetRequest) ([]*candidate, error) {
	var out []*candidate
	pools := make(map[string]bool)
	for i := range in.Configs {
		config := &in.Configs[i]
		t, err := s.state.template(config.Spec.ID, config.Spec.Name)
		if err != nil {
			return nil, err
		}
		v, err := t.version(config.Spec.Version)
		if err != nil {
			return nil, err
		}
		overrides := config.Overrides
		if len(overrides) == 0 {
			overrides = []fleetOverride{{}}
		}
		for _, o := range overrides {
			cand := s.candidate(t, v, o)
			// A pool is a type in a zone, and a fleet may name each once. AWS does
			// not document the error; this is how users report it.
			if cand.err == nil {
				pool := cand.spec.kind.Name + " " + cand.spec.zone.name
				if pools[pool] {
					return nil, failf("InvalidFleetConfig", "The fleet configuration contains duplicate instance pools")
				}
				pools[pool] = true
			}
			out = append(out, cand)
		}
	}
	return out, nil
}

func (s *Server) candidate(t *template, v *templateVersion, o fleetOverride) *candidate {
	out := &candidate{
		// The answer names the template by ID and the version by number.
		from: templateAndOverrides{fleetTemplateXML{ID: t.id, Version: strconv.Itoa(v.number)}, o},
		data: v.data, priority: math.Inf(1), weight: 1,
	}
	if o.Priority != nil {
		out.priority = *o.Priority
	}
	if o.WeightedCapacity != nil {
		out.weight = *o.WeightedCapacity
	}
	out.data.InstanceType = cmp.Or(o.InstanceType, v.data.InstanceType)
	out.data.ImageID = cmp.Or(o.ImageID, v.data.ImageID)
	if len(o.BlockDevices) > 0 {
		out.data.BlockDeviceMappings = o.BlockDevices
	}
	where := placementXML{}
	switch {
	case o.AvailabilityZone != "" || o.AvailabilityZoneID != "":
		where = placementXML{AvailabilityZone: o.AvailabilityZone, AvailabilityZoneID: o.AvailabilityZoneID}
	case o.Placement != nil:
		where = *o.Placement
	case o.SubnetID == "" && v.data.Placement != nil:
		where = *v.data.Placement
	}
	subnetID := o.SubnetID
	for _, n := range v.data.NetworkInterfaces {
		subnetID = cmp.Or(subnetID, n.SubnetID)
	}
	out.spec, out.err = s.resolve(out.data, where, subnetID)
	out.spec.template, out.spec.version = t.id, v.number
	if price, err := strconv.ParseFloat(o.MaxPrice, 64); err == nil {
		out.spec.maxPrice = model.PriceOf(price)
	}
	return out
}

// order is the order in which a strategy draws on the pools. Spot capacity is
// ranked by depth, a property of the pool that the seed decides.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-allocation-strategy.html
func (s *Server) order(all []*candidate, spot bool, strategy string) []*candidate {
	out := make([]*candidate, len(all))
	for i, cand := range all {
		one := *cand
		one.spec.spot = spot
		one.price = math.MaxInt64
		if one.err == nil {
			if p := s.state.price(one.spec.option()); p > 0 {
				// Prices are compared per unit of capacity.
				one.price = model.Price(float64(p) / one.weight)
			}
			one.depth = s.depth(one.spec.option())
		}
		out[i] = &one
	}
	slices.SortStableFunc(out, func(a, b *candidate) int {
		byPrice := cmp.Compare(a.price, b.price)
		switch strategy {
		case "prioritized":
			return cmp.Or(cmp.Compare(a.priority, b.priority), byPrice)
		case "capacity-optimized":
			return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.spec.risk(s), b.spec.risk(s)))
		case "capacity-optimized-prioritized":
			return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.priority, b.priority))
		case "price-capacity-optimized":
			return cmp.Or(cmp.Compare(a.depth, b.depth), byPrice)
		default: // lowest-price and diversified
			return byPrice
		}
	})
	return out
}

// depth ranks spot pools by spare capacity, 0 the deepest: seven of ten pools
// are deep, two middling, one shallow. A bounded pool that is empty is last.
func (s *Server) depth(pool model.Option) int {
	if pool.CapacityType != model.Spot {
		return 0
	}
	if left, bounded := s.state.pools[pool]; bounded && left <= 0 {
		return 3
	}
	switch n := s.hash("depth", pool.InstanceType, pool.Zone) % 10; {
	case n < 7:
		return 0
	case n < 9:
		return 1
	default:
		return 2
	}
}

// risk is the share of the type's spot instances interrupted per month.
func (l *launchSpec) risk(s *Server) float64 {
	if l.kind == nil || s.state.sales[l.kind.Name] == nil {
		return 1
	}
	return s.state.sales[l.kind.Name].risk
}

// fleetRun is a fleet being fulfilled.
type fleetRun struct {
	server *Server
	call   *call
	tags   tags
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
		if limit := f.server.cfg.FleetAttempts; limit > 0 && tried >= limit {
			f.refuse(pool, failf(codeUnfulfillable, "Unable to fulfill capacity due to your request configuration. Please adjust your request and try again."))
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
		if err := f.server.available(f.call, &pool.spec); err != nil {
			return started, err
		}
		i, err := f.server.start(f.call, pool.spec, f.tags, f.origin)
		if err != nil {
			return started, err
		}
		started = append(started, i)
	}
	return started, nil
}

func (f *fleetRun) add(pool *candidate, started []*instance) {
	if len(started) == 0 {
		return
	}
	entry := fleetInstance{
		From: pool.from, Lifecycle: started[0].lifecycle(), Type: pool.spec.kind.Name, Platform: pool.spec.image.platform(),
		SubnetID: pool.spec.subnet.id, Zone: pool.spec.zone.name, ZoneID: pool.spec.zone.id,
	}
	for _, i := range started {
		entry.IDs = append(entry.IDs, i.id)
	}
	f.out.Instances = append(f.out.Instances, entry)
}

// refuse records a pool's error. A type that the zone does not sell, or that
// does not exist, is an invalid configuration in the words of fleets.
func (f *fleetRun) refuse(pool *candidate, err error) {
	code, message := failureOf(err).Code, failureOf(err).Message
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
