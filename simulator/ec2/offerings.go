package sim

import (
	"slices"
	"strconv"
	"time"

	"spokeshave.dev/controller/core/model"
)

type describeOfferings struct {
	paged
	Filters      []filter `query:"Filter"`
	LocationType string
}

type offeringXML struct {
	Type         string `xml:"instanceType"`
	LocationType string `xml:"locationType"`
	Location     string `xml:"location"`
}

// answerOfferings lists where types are sold; without MaxResults 1000 a page.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html
func answerOfferings(s *Server, _ *call, in *describeOfferings) (any, error) {
	if err := oneOf("LocationType", in.LocationType, "region", "availability-zone", "availability-zone-id", "outpost"); err != nil {
		return nil, err
	}
	if in.LocationType == "" {
		in.LocationType = "region"
	}
	var all []offeringXML
	for _, name := range s.state.names {
		for _, place := range s.places(name, in.LocationType) {
			all = append(all, offeringXML{name, in.LocationType, place})
		}
	}
	found, err := choose(all, in.Filters, tagged[offeringXML]{fields: fields[offeringXML]{
		"instance-type": is(func(o offeringXML) string { return o.Type }),
		"location":      is(func(o offeringXML) string { return o.Location }),
	}})
	if err != nil {
		return nil, err
	}
	pages := in.paged
	if pages.MaxResults == nil {
		most := 1000
		pages.MaxResults = &most
	}
	items, next, err := page(found, pages, 5, 1000)
	return struct {
		Offerings []offeringXML `xml:"instanceTypeOfferingSet>item"`
		NextToken string        `xml:"nextToken,omitempty"`
	}{items, next}, err
}

func (s *Server) places(name, kind string) []string {
	sale := s.state.sales[name]
	if sale == nil || len(sale.zones) == 0 {
		return nil
	}
	if kind == "region" {
		return []string{s.cfg.Region}
	}
	var out []string
	for _, z := range s.state.zones {
		switch {
		case !sale.zones[z.name]:
		case kind == "availability-zone":
			out = append(out, z.name)
		case kind == "availability-zone-id":
			out = append(out, z.id)
		}
	}
	return out
}

type describeSpotPrices struct {
	paged
	Filters          []filter `query:"Filter"`
	AvailabilityZone string
	ZoneID           string   `query:"AvailabilityZoneId"`
	Types            []string `query:"InstanceType"`
	Products         []string `query:"ProductDescription"`
	StartTime        time.Time
	EndTime          time.Time
}

type spotPriceXML struct {
	Type    string `xml:"instanceType"`
	Product string `xml:"productDescription"`
	Price   string `xml:"spotPrice"`
	Time    string `xml:"timestamp"`
	Zone    string `xml:"availabilityZone"`
	ZoneID  string `xml:"availabilityZoneId"`
}

// linux is the product that ec2sim has spot prices for.
const linux = "Linux/UNIX"

// asks says whether the request is about a type in a zone.
func (in *describeSpotPrices) asks(name string, z zone) bool {
	return (in.AvailabilityZone == "" || in.AvailabilityZone == z.name) &&
		(in.ZoneID == "" || in.ZoneID == z.id) &&
		(len(in.Types) == 0 || slices.Contains(in.Types, name)) &&
		(len(in.Products) == 0 || slices.Contains(in.Products, linux) || slices.Contains(in.Products, linux+" (Amazon VPC)"))
}

// answerSpotPrices lists the spot prices in force; ec2sim keeps no older ones.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html
func answerSpotPrices(s *Server, c *call, in *describeSpotPrices) (any, error) {
	if in.AvailabilityZone != "" && in.ZoneID != "" {
		return nil, failf(codeCombination, "Specify either an Availability Zone name or an ID, but not both")
	}
	if !in.StartTime.IsZero() && !in.EndTime.IsZero() && in.EndTime.Before(in.StartTime) {
		return nil, failf(codeInvalidValue, "The end time is before the start time")
	}
	var all []spotPriceXML
	for _, name := range s.state.names {
		for _, z := range s.state.zones {
			price := s.state.price(model.Option{InstanceType: name, Zone: z.name, CapacityType: model.Spot})
			if price > 0 && in.asks(name, z) {
				all = append(all, spotPriceXML{name, linux, dollars(price), s.state.since.UTC().Format(time.RFC3339), z.name, z.id})
			}
		}
	}
	found, err := choose(all, in.Filters, tagged[spotPriceXML]{fields: fields[spotPriceXML]{
		"availability-zone":    is(func(p spotPriceXML) string { return p.Zone }),
		"availability-zone-id": is(func(p spotPriceXML) string { return p.ZoneID }),
		"instance-type":        is(func(p spotPriceXML) string { return p.Type }),
		"product-description":  is(func(p spotPriceXML) string { return p.Product }),
		"spot-price":           is(func(p spotPriceXML) string { return p.Price }),
		"timestamp":            is(func(p spotPriceXML) string { return p.Time }),
	}})
	if err != nil {
		return nil, err
	}
	pages := in.paged
	if pages.MaxResults == nil || *pages.MaxResults > 1000 {
		most := 1000
		pages.MaxResults = &most
	}
	items, next, err := page(found, pages, 1, 1000)
	return struct {
		Prices    []spotPriceXML `xml:"spotPriceHistorySet>item"`
		NextToken string         `xml:"nextToken"`
	}{items, next}, err
}

// dollars writes a price with six decimals, as the price history does.
func dollars(p model.Price) string { return strconv.FormatFloat(p.USD(), 'f', 6, 64) }
