package ec2

import (
	"strconv"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
)

type zonesRequest struct {
	All     bool             `query:"AllAvailabilityZones"`
	Filters []listing.Filter `query:"Filter"`
	IDs     []string         `query:"ZoneId"`
	Names   []string         `query:"ZoneName"`
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

// describeZones lists the region's zones.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeAvailabilityZones.html
func (s *network) describeZones(_ *operation.Call, in *zonesRequest) (any, error) {
	all := s.market.Zones()
	if len(in.IDs)+len(in.Names) > 0 {
		all = nil
	}
	for _, id := range in.IDs {
		z, ok := s.market.ZoneByID(id)
		if !ok {
			return nil, awserr.New(awserr.InvalidValue, "Invalid availability zone-id: [%s]", id)
		}
		all = append(all, z)
	}
	for _, name := range in.Names {
		z, ok := s.market.ZoneByName(name)
		if !ok {
			return nil, awserr.New(awserr.InvalidValue, "Invalid availability zone: [%s]", name)
		}
		all = append(all, z)
	}
	found, err := listing.Choose(all, in.Filters, listing.By[market.Zone]{Fields: listing.Fields[market.Zone]{
		"group-name":    listing.Is(func(market.Zone) string { return s.account.Region + "-zg-1" }),
		"opt-in-status": listing.Is(func(market.Zone) string { return "opt-in-not-required" }),
		"region-name":   listing.Is(func(market.Zone) string { return s.account.Region }),
		"state":         listing.Is(func(market.Zone) string { return "available" }),
		"zone-id":       listing.Is(func(z market.Zone) string { return z.ID }),
		"zone-name":     listing.Is(func(z market.Zone) string { return z.Name }),
		"zone-type":     listing.Is(func(market.Zone) string { return "availability-zone" }),
	}})
	out := struct {
		Zones []zoneXML `xml:"availabilityZoneInfo>item"`
	}{}
	for _, z := range found {
		out.Zones = append(out.Zones, zoneXML{z.Name, z.ID, "available", s.account.Region, s.account.Region + "-zg-1", s.account.Region, "opt-in-not-required", "availability-zone", s.account.Region})
	}
	return out, err
}

type regionsRequest struct {
	All     bool             `query:"AllRegions"`
	Filters []listing.Filter `query:"Filter"`
	Names   []string         `query:"RegionName"`
}

type regionXML struct {
	Name     string `xml:"regionName"`
	Endpoint string `xml:"regionEndpoint"`
	OptIn    string `xml:"optInStatus"`
}

// describeRegions lists the one region.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeRegions.html
func (s *network) describeRegions(_ *operation.Call, in *regionsRequest) (any, error) {
	here := regionXML{s.account.Region, "ec2." + s.account.Region + ".amazonaws.com", "opt-in-not-required"}
	for i, name := range in.Names {
		if name != here.Name {
			return nil, awserr.New(awserr.InvalidValue, "Invalid value for parameter RegionName.%s: %s", strconv.Itoa(i+1), name)
		}
	}
	found, err := listing.Choose([]regionXML{here}, in.Filters, listing.By[regionXML]{Fields: listing.Fields[regionXML]{
		"endpoint":      listing.Is(func(r regionXML) string { return r.Endpoint }),
		"opt-in-status": listing.Is(func(r regionXML) string { return r.OptIn }),
		"region-name":   listing.Is(func(r regionXML) string { return r.Name }),
	}})
	return struct {
		Regions []regionXML `xml:"regionInfo>item"`
	}{found}, err
}
