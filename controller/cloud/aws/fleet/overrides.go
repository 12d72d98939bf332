package fleet

import (
	"fmt"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/availability"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/resolve"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// overrides resolves the options to images and subnets.
func (l *Launcher) overrides(class *awsv1.EC2NodeClass, spec *provider.LaunchSpec) ([]override, error) {
	if len(spec.Options) == 0 {
		return nil, client.Refuse(provider.Invalid, "no option given")
	}
	if ct := spec.Options[0].CapacityType; ct != model.OnDemand && ct != model.Spot && ct != model.Reserved {
		return nil, client.Refuse(provider.Invalid, "capacity type %q is none: on-demand, spot and reserved are", ct)
	}
	catalog, err := l.cfg.Catalogue.Of(class)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]*model.InstanceType, len(catalog.Types))
	for i := range catalog.Types {
		byName[catalog.Types[i].Name] = &catalog.Types[i]
	}
	subnets := map[string][]string{}
	for _, s := range class.Status.Subnets {
		subnets[s.Zone] = append(subnets[s.Zone], s.ID)
	}
	var out []override
	on := l.cfg.Shifts.Current(l.cfg.Clock())
	for _, o := range leading(spec.Options) {
		known, ok := byName[o.InstanceType]
		if !ok {
			return nil, client.Refuse(provider.Invalid, "EC2NodeClass %s cannot launch %s: it is not offered in zones of its subnets, or no AMI of its fits", class.Name, o.InstanceType)
		}
		subnet, ok := subnets[o.Zone]
		if !ok {
			return nil, client.Refuse(provider.Invalid, "EC2NodeClass %s has no subnet in zone %s", class.Name, o.Zone)
		}
		if availability.Away(on, o.Zone, availability.ZoneID(class, o.Zone)) {
			continue // shifted away from since the plan was made
		}
		next := override{Option: o, image: resolve.ImageFor(class.Status.AMIs, known.Labels).ID, subnet: l.cfg.Addresses.Roomiest(subnet), pods: l.cfg.Catalogue.MaxPods(class, known)}
		if spec.Requests[provider.ResourceEFA] > 0 {
			next.efas = known.Capacity[provider.ResourceEFA]
		}
		out = append(out, next)
	}
	if len(out) == 0 {
		return nil, client.SoldOut(nil, availability.CodeZonalShift, fmt.Errorf("the cluster is shifted away from zone %s", spec.Options[0].Zone))
	}
	if spec.Options[0].CapacityType == model.Reserved {
		out = l.drawing(class, out)
	}
	if len(out) == 0 {
		return nil, client.SoldOut(spec.Options[:1], "", fmt.Errorf("EC2NodeClass %s selects no open capacity reservation of %s in %s any more",
			class.Name, spec.Options[0].InstanceType, spec.Options[0].Zone))
	}
	return out, nil
}

// drawing gives each reserved option its reservation, and keeps as many as one
// request can carry: blocks and interruptible ones are bought in other ways than
// other reservations. Full ones are left out while another has room.
func (l *Launcher) drawing(class *awsv1.EC2NodeClass, all []override) []override {
	room := false
	for i := range all {
		all[i].reservation = l.cfg.Reservations.For(class, all[i].InstanceType, all[i].Zone)
		room = room || all[i].reservation != nil && l.cfg.Reservations.Left(all[i].reservation.ID) > 0
	}
	out := all[:0]
	for _, o := range all {
		switch {
		case o.reservation == nil, room && l.cfg.Reservations.Left(o.reservation.ID) <= 0:
			continue
		case len(out) == maxReservations, len(out) > 0 && !boughtAlike(out[0].reservation, o.reservation):
			return out
		}
		out = append(out, o)
	}
	return out
}

// boughtAlike says whether one request can draw on both.
func boughtAlike(a, b *awsv1.CapacityReservation) bool {
	return a.ReservationType == b.ReservationType && a.Interruptible == b.Interruptible
}
