package ec2

import (
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

type subnetsRequest struct {
	listing.Paging
	Filters []listing.Filter `query:"Filter"`
	IDs     []string         `query:"SubnetId"`
}

type subnetXML struct {
	SubnetID            string    `xml:"subnetId"`
	ARN                 string    `xml:"subnetArn"`
	State               string    `xml:"state"`
	VPCID               string    `xml:"vpcId"`
	CIDR                string    `xml:"cidrBlock"`
	Free                int       `xml:"availableIpAddressCount"`
	Zone                string    `xml:"availabilityZone"`
	ZoneID              string    `xml:"availabilityZoneId"`
	DefaultForAz        bool      `xml:"defaultForAz"`
	MapPublicIPOnLaunch bool      `xml:"mapPublicIpOnLaunch"`
	OwnerID             string    `xml:"ownerId"`
	Tags                []tag.Tag `xml:"tagSet>item"`
}

// describeSubnets lists subnets.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSubnets.html
func (s *network) describeSubnets(_ *operation.Call, in *subnetsRequest) (any, error) {
	all := s.subnets
	if len(in.IDs) > 0 {
		all = nil
		for _, id := range in.IDs {
			sn := s.subnet(id)
			if sn == nil {
				return nil, awserr.New("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
			}
			all = append(all, sn)
		}
	}
	found, err := listing.Choose(all, in.Filters, listing.By[*subnet]{
		Tags: func(sn *subnet) tag.Set { return sn.tags },
		Fields: listing.Fields[*subnet]{
			"availability-zone":    listing.Is(func(sn *subnet) string { return sn.zone.Name }),
			"availability-zone-id": listing.Is(func(sn *subnet) string { return sn.zone.ID }),
			"cidr-block":           listing.Is(func(sn *subnet) string { return sn.cidr }),
			"default-for-az":       listing.Is(func(*subnet) string { return "true" }),
			"owner-id":             listing.Is(func(*subnet) string { return s.account.ID }),
			"state":                listing.Is(func(*subnet) string { return "available" }),
			"subnet-id":            listing.Is(func(sn *subnet) string { return sn.id }),
			"vpc-id":               listing.Is(func(*subnet) string { return s.vpcID }),
		},
	})
	if err != nil {
		return nil, err
	}
	items, next, err := listing.Page(found, in.Paging, 5, 1000)
	out := struct {
		Subnets   []subnetXML `xml:"subnetSet>item"`
		NextToken string      `xml:"nextToken,omitempty"`
	}{NextToken: next}
	for _, sn := range items {
		out.Subnets = append(out.Subnets, subnetXML{
			SubnetID: sn.id, ARN: s.account.ARN("ec2", "subnet/"+sn.id), State: "available", VPCID: s.vpcID, CIDR: sn.cidr,
			Free: sn.free(), Zone: sn.zone.Name, ZoneID: sn.zone.ID, DefaultForAz: true, OwnerID: s.account.ID, Tags: sn.tags.List(),
		})
	}
	return out, err
}

type securityGroupsRequest struct {
	listing.Paging
	Filters []listing.Filter `query:"Filter"`
	IDs     []string         `query:"GroupId"`
	Names   []string         `query:"GroupName"`
}

type securityGroupXML struct {
	OwnerID     string    `xml:"ownerId"`
	GroupID     string    `xml:"groupId"`
	Name        string    `xml:"groupName"`
	Description string    `xml:"groupDescription"`
	VPCID       string    `xml:"vpcId"`
	Tags        []tag.Tag `xml:"tagSet>item"`
}

// describeSecurityGroups lists security groups.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSecurityGroups.html
func (s *network) describeSecurityGroups(_ *operation.Call, in *securityGroupsRequest) (any, error) {
	all := s.groups
	if len(in.IDs)+len(in.Names) > 0 {
		all = nil
	}
	for _, id := range in.IDs {
		g := s.group(id)
		if g == nil {
			return nil, awserr.New("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
		all = append(all, g)
	}
	for _, name := range in.Names {
		before := len(all)
		for _, g := range s.groups {
			if g.name == name {
				all = append(all, g)
			}
		}
		if len(all) == before {
			return nil, awserr.New("InvalidGroup.NotFound", "The security group '%s' does not exist in default VPC '%s'", name, s.vpcID)
		}
	}
	found, err := listing.Choose(all, in.Filters, listing.By[*securityGroup]{
		Tags: func(g *securityGroup) tag.Set { return g.tags },
		Fields: listing.Fields[*securityGroup]{
			"description": listing.Is(func(g *securityGroup) string { return g.description }),
			"group-id":    listing.Is(func(g *securityGroup) string { return g.id }),
			"group-name":  listing.Is(func(g *securityGroup) string { return g.name }),
			"owner-id":    listing.Is(func(*securityGroup) string { return s.account.ID }),
			"vpc-id":      listing.Is(func(*securityGroup) string { return s.vpcID }),
		},
	})
	if err != nil {
		return nil, err
	}
	items, next, err := listing.Page(found, in.Paging, 5, 1000)
	out := struct {
		Groups    []securityGroupXML `xml:"securityGroupInfo>item"`
		NextToken string             `xml:"nextToken,omitempty"`
	}{NextToken: next}
	for _, g := range items {
		out.Groups = append(out.Groups, securityGroupXML{s.account.ID, g.id, g.name, g.description, s.vpcID, g.tags.List()})
	}
	return out, err
}
