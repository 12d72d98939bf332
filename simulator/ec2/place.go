package ec2

import (
	"spokeshave.dev/simulator/awserr"
)

// place finds the subnet: the one named, else the default one of the zone
// named, else that of the first zone that sells the type.
func (s *network) place(typeName string, where placementXML, subnetID string) (*subnet, error) {
	zoneName := where.AvailabilityZone
	if where.AvailabilityZoneID != "" {
		z, ok := s.market.ZoneByID(where.AvailabilityZoneID)
		if !ok || zoneName != "" {
			return nil, awserr.New(awserr.InvalidValue, "Invalid availability zone ID: [%s]", where.AvailabilityZoneID)
		}
		zoneName = z.Name
	}
	if subnetID != "" {
		sn := s.subnet(subnetID)
		switch {
		case sn == nil:
			return nil, awserr.New("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", subnetID)
		case zoneName != "" && zoneName != sn.zone.Name:
			return nil, awserr.New(awserr.InvalidValue, "The availability zone %s is not the one of subnet '%s', %s", zoneName, subnetID, sn.zone.Name)
		}
		return sn, nil
	}
	for _, z := range s.market.Zones() {
		sells := s.market.Sells(typeName, z.Name)
		if z.Name == zoneName || (zoneName == "" && sells) {
			return s.defaultSubnet(z), nil
		}
	}
	return nil, awserr.New(awserr.InvalidValue, "Invalid availability zone: [%s]", zoneName)
}

// groupsOf are the security groups that template data names, the default one
// when it names none.
func (s *network) groupsOf(d *templateData) ([]*securityGroup, error) {
	ids := d.SecurityGroupIDs
	for _, n := range d.NetworkInterfaces {
		ids = append(ids, n.Groups...)
	}
	var out []*securityGroup
	seen := make(map[string]bool)
	for _, id := range ids {
		g := s.group(id)
		if g == nil {
			return nil, awserr.New("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, g)
		}
	}
	if len(out) == 0 {
		out = append(out, s.groups[0])
	}
	return out, nil
}
