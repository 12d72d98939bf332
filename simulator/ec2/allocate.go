package ec2

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/simulator/awserr"
)

// candidate is one override of one template.
type candidate struct {
	from     templateAndOverrides
	data     templateData
	priority float64
	weight   float64
	price    model.Price
	depth    int
	// pool is known once zone and type are.
	spec launchSpec
	err  error
}

// candidates lays the overrides over their templates. A template that does not
// exist fails the request; what is wrong with a single override shows as an
// error of the fleet.
func (s *fleets) candidates(in *createFleetRequest) ([]*candidate, error) {
	var out []*candidate
	pools := make(map[string]bool)
	for i := range in.Configs {
		config := &in.Configs[i]
		t, err := s.templates.find(config.Spec.ID, config.Spec.Name)
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
				pool := cand.spec.kind.Name + " " + cand.spec.zone.Name
				if pools[pool] {
					return nil, awserr.New("InvalidFleetConfig", "The fleet configuration contains duplicate instance pools")
				}
				pools[pool] = true
			}
			out = append(out, cand)
		}
	}
	return out, nil
}

// candidate lays one override over a version of a template.
func (s *fleets) candidate(t *template, v *templateVersion, o fleetOverride) *candidate {
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
	out.spec, out.err = s.launcher.resolve(out.data, where, subnetID)
	out.spec.template, out.spec.version = t.id, v.number
	if price, err := strconv.ParseFloat(o.MaxPrice, 64); err == nil {
		out.spec.maxPrice = model.PriceOf(price)
	}
	return out
}

// order is the order in which a strategy draws on the pools. Spot capacity is
// ranked by depth, a property of the pool that the seed decides.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-allocation-strategy.html
func (s *fleets) order(all []*candidate, spot bool, strategy string, now time.Time) []*candidate {
	out := make([]*candidate, len(all))
	for i, cand := range all {
		one := *cand
		one.spec.spot = spot
		one.price = math.MaxInt64
		if one.err == nil {
			if p := s.launcher.market.Price(one.spec.option()); p > 0 {
				// Prices are compared per unit of capacity.
				one.price = model.Price(float64(p) / one.weight)
			}
			one.depth = s.launcher.depth(one.spec.option(), now)
		}
		out[i] = &one
	}
	slices.SortStableFunc(out, func(a, b *candidate) int {
		byPrice := cmp.Compare(a.price, b.price)
		switch strategy {
		case "prioritized":
			return cmp.Or(cmp.Compare(a.priority, b.priority), byPrice)
		case "capacity-optimized":
			return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(s.risk(a), s.risk(b)))
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

// risk is the share of the type's spot instances interrupted per month.
func (s *fleets) risk(c *candidate) float64 {
	if c.spec.kind == nil {
		return 1
	}
	return s.launcher.market.Risk(c.spec.kind.Name)
}
