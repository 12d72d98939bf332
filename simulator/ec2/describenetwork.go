package sim

import "strconv"

type describeSubnets struct {
	paged
	Filters []filter `query:"Filter"`
	IDs     []string `query:"SubnetId"`
}

type subnetXML struct {
	SubnetID            string   `xml:"subnetId"`
	ARN                 string   `xml:"subnetArn"`
	State               string   `xml:"state"`
	VPCID               string   `xml:"vpcId"`
	CIDR                string   `xml:"cidrBlock"`
	Free                int      `xml:"availableIpAddressCount"`
	Zone                string   `xml:"availabilityZone"`
	ZoneID              string   `xml:"availabilityZoneId"`
	DefaultForAz        bool     `xml:"defaultForAz"`
	MapPublicIPOnLaunch bool     `xml:"mapPublicIpOnLaunch"`
	OwnerID             string   `xml:"ownerId"`
	Tags                []tagXML `xml:"tagSet>item"`
}

// answerSubnets lists subnets.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSubnets.html
func answerSubnets(s *Server, _ *call, in *describeSubnets) (any, error) {
	all := s.state.subnets
	if len(in.IDs) > 0 {
		all = nil
		for _, id := range in.IDs {
			sn := s.state.subnet(id)
			if sn == nil {
				return nil, failf("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
			}
			all = append(all, sn)
		}
	}
	found, err := choose(all, in.Filters, tagged[*subnet]{
		tags: func(sn *subnet) tags { return sn.tags },
		fields: fields[*subnet]{
			"availability-zone":    is(func(sn *subnet) string { return sn.zone.name }),
			"availability-zone-id": is(func(sn *subnet) string { return sn.zone.id }),
			"cidr-block":           is(func(sn *subnet) string { return sn.cidr }),
			"default-for-az":       is(func(*subnet) string { return "true" }),
			"owner-id":             is(func(*subnet) string { return s.cfg.Account }),
			"state":                is(func(*subnet) string { return "available" }),
			"subnet-id":            is(func(sn *subnet) string { return sn.id }),
			"vpc-id":               is(func(*subnet) string { return s.state.vpcID }),
		},
	})
	if err != nil {
		return nil, err
	}
	items, next, err := page(found, in.paged, 5, 1000)
	out := struct {
		Subnets   []subnetXML `xml:"subnetSet>item"`
		NextToken string      `xml:"nextToken,omitempty"`
	}{NextToken: next}
	for _, sn := range items {
		out.Subnets = append(out.Subnets, subnetXML{
			SubnetID: sn.id, ARN: s.arn("ec2", "subnet/"+sn.id), State: "available", VPCID: s.state.vpcID, CIDR: sn.cidr,
			Free: sn.free(), Zone: sn.zone.name, ZoneID: sn.zone.id, DefaultForAz: true, OwnerID: s.cfg.Account, Tags: sn.tags.list(),
		})
	}
	return out, err
}

type describeSecurityGroups struct {
	paged
	Filters []filter `query:"Filter"`
	IDs     []string `query:"GroupId"`
	Names   []string `query:"GroupName"`
}

type securityGroupXML struct {
	OwnerID     string   `xml:"ownerId"`
	GroupID     string   `xml:"groupId"`
	Name        string   `xml:"groupName"`
	Description string   `xml:"groupDescription"`
	VPCID       string   `xml:"vpcId"`
	Tags        []tagXML `xml:"tagSet>item"`
}

// answerSecurityGroups lists security groups.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSecurityGroups.html
func answerSecurityGroups(s *Server, _ *call, in *describeSecurityGroups) (any, error) {
	all := s.state.groups
	if len(in.IDs)+len(in.Names) > 0 {
		all = nil
	}
	for _, id := range in.IDs {
		g := s.state.group(id)
		if g == nil {
			return nil, failf("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
		all = append(all, g)
	}
	for _, name := range in.Names {
		before := len(all)
		for _, g := range s.state.groups {
			if g.name == name {
				all = append(all, g)
			}
		}
		if len(all) == before {
			return nil, failf("InvalidGroup.NotFound", "The security group '%s' does not exist in default VPC '%s'", name, s.state.vpcID)
		}
	}
	found, err := choose(all, in.Filters, tagged[*securityGroup]{
		tags: func(g *securityGroup) tags { return g.tags },
		fields: fields[*securityGroup]{
			"description": is(func(g *securityGroup) string { return g.description }),
			"group-id":    is(func(g *securityGroup) string { return g.id }),
			"group-name":  is(func(g *securityGroup) string { return g.name }),
			"owner-id":    is(func(*securityGroup) string { return s.cfg.Account }),
			"vpc-id":      is(func(*securityGroup) string { return s.state.vpcID }),
		},
	})
	if err != nil {
		return nil, err
	}
	items, next, err := page(found, in.paged, 5, 1000)
	out := struct {
		Groups    []securityGroupXML `xml:"securityGroupInfo>item"`
		NextToken string             `xml:"nextToken,omitempty"`
	}{NextToken: next}
	for _, g := range items {
		out.Groups = append(out.Groups, securityGroupXML{s.cfg.Account, g.id, g.name, g.description, s.state.vpcID, g.tags.list()})
	}
	return out, err
}

type describeZones struct {
	All     bool     `query:"AllAvailabilityZones"`
	Filters []filter `query:"Filter"`
	IDs     []string `query:"ZoneId"`
	Names   []string `query:"ZoneName"`
}

type zoneXML struct {
	Name         string `xml:"zoneName"`
	ID           string `xml:"zoneId"`
	State        string `xml:"zoneState"`
	Region       string `xml:"regionName"`
	Group        string `xml:"groupName"`
	Border       string `xml:"networkBorderGroup"`
	OptInStatus  string `xml:"optInStatus"`
	Type         string `xml:"zoneType"`
	GroupDisplay string `xml:"groupLongName"`
}

// answerZones lists the region's zones.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeAvailabilityZones.html
func answerZones(s *Server, _ *call, in *describeZones) (any, error) {
	all := s.state.zones
	if len(in.IDs)+len(in.Names) > 0 {
		all = nil
	}
	for _, id := range in.IDs {
		z, ok := s.state.zoneByID(id)
		if !ok {
			return nil, failf(codeInvalidValue, "Invalid availability zone-id: [%s]", id)
		}
		all = append(all, z)
	}
	for _, name := range in.Names {
		z, ok := s.state.zoneByName(name)
		if !ok {
			return nil, failf(codeInvalidValue, "Invalid availability zone: [%s]", name)
		}
		all = append(all, z)
	}
	found, err := choose(all, in.Filters, tagged[zone]{fields: fields[zone]{
		"group-name":    is(func(zone) string { return s.cfg.Region + "-zg-1" }),
		"opt-in-status": is(func(zone) string { return "opt-in-not-required" }),
		"region-name":   is(func(zone) string { return s.cfg.Region }),
		"state":         is(func(zone) string { return "available" }),
		"zone-id":       is(func(z zone) string { return z.id }),
		"zone-name":     is(func(z zone) string { return z.name }),
		"zone-type":     is(func(zone) string { return "availability-zone" }),
	}})
	out := struct {
		Zones []zoneXML `xml:"availabilityZoneInfo>item"`
	}{}
	for _, z := range found {
		out.Zones = append(out.Zones, zoneXML{z.name, z.id, "available", s.cfg.Region, s.cfg.Region + "-zg-1", s.cfg.Region, "opt-in-not-required", "availability-zone", s.cfg.Region})
	}
	return out, err
}

type describeRegions struct {
	All     bool     `query:"AllRegions"`
	Filters []filter `query:"Filter"`
	Names   []string `query:"RegionName"`
}

type regionXML struct {
	Name     string `xml:"regionName"`
	Endpoint string `xml:"regionEndpoint"`
	OptIn    string `xml:"optInStatus"`
}

// answerRegions lists the one region.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeRegions.html
func answerRegions(s *Server, _ *call, in *describeRegions) (any, error) {
	here := regionXML{s.cfg.Region, "ec2." + s.cfg.Region + ".amazonaws.com", "opt-in-not-required"}
	for i, name := range in.Names {
		if name != here.Name {
			return nil, failf(codeInvalidValue, "Invalid value for parameter RegionName.%s: %s", strconv.Itoa(i+1), name)
		}
	}
	found, err := choose([]regionXML{here}, in.Filters, tagged[regionXML]{fields: fields[regionXML]{
		"endpoint":      is(func(r regionXML) string { return r.Endpoint }),
		"opt-in-status": is(func(r regionXML) string { return r.OptIn }),
		"region-name":   is(func(r regionXML) string { return r.Name }),
	}})
	return struct {
		Regions []regionXML `xml:"regionInfo>item"`
	}{found}, err
}

// arn names a resource of the account in the region.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
func (s *Server) arn(service, resource string) string {
	return "arn:aws:" + service + ":" + s.cfg.Region + ":" + s.cfg.Account + ":" + resource
}
