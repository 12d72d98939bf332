package ec2

import (
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
)

// offerings tell what the market sells.
type offerings struct {
	region string
	market *market.Market
}

type offeringsRequest struct {
	listing.Paging
	Filters      []listing.Filter `query:"Filter"`
	LocationType string
}

type offeringXML struct {
	Type         string `xml:"instanceType"`
	LocationType string `xml:"locationType"`
	Location     string `xml:"location"`
}

// describeOfferings lists where types are sold; without MaxResults 1000 a page.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html
func (s *offerings) describeOfferings(_ *operation.Call, in *offeringsRequest) (any, error) {
	if err := awserr.OneOf("LocationType", in.LocationType, "region", "availability-zone", "availability-zone-id", "outpost"); err != nil {
		return nil, err
	}
	if in.LocationType == "" {
		in.LocationType = "region"
	}
	var all []offeringXML
	for _, name := range s.market.Names() {
		for _, place := range s.places(name, in.LocationType) {
			all = append(all, offeringXML{name, in.LocationType, place})
		}
	}
	found, err := listing.Choose(all, in.Filters, listing.By[offeringXML]{Fields: listing.Fields[offeringXML]{
		"instance-type": listing.Is(func(o offeringXML) string { return o.Type }),
		"location":      listing.Is(func(o offeringXML) string { return o.Location }),
	}})
	if err != nil {
		return nil, err
	}
	pages := in.Paging
	if pages.MaxResults == nil {
		most := 1000
		pages.MaxResults = &most
	}
	items, next, err := listing.Page(found, pages, 5, 1000)
	return struct {
		Offerings []offeringXML `xml:"instanceTypeOfferingSet>item"`
		NextToken string        `xml:"nextToken,omitempty"`
	}{items, next}, err
}

// places are where a type is sold, in locations of a kind.
func (s *offerings) places(name, kind string) []string {
	var out []string
	for _, z := range s.market.Zones() {
		switch {
		case !s.market.Sells(name, z.Name):
		case kind == "region":
			return []string{s.region}
		case kind == "availability-zone":
			out = append(out, z.Name)
		case kind == "availability-zone-id":
			out = append(out, z.ID)
		}
	}
	return out
}
