package ec2

import (
	"slices"
	"strconv"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
)

type spotPricesRequest struct {
	listing.Paging
	Filters          []listing.Filter `query:"Filter"`
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
func (in *spotPricesRequest) asks(name string, z market.Zone) bool {
	return (in.AvailabilityZone == "" || in.AvailabilityZone == z.Name) &&
		(in.ZoneID == "" || in.ZoneID == z.ID) &&
		(len(in.Types) == 0 || slices.Contains(in.Types, name)) &&
		(len(in.Products) == 0 || slices.Contains(in.Products, linux) || slices.Contains(in.Products, linux+" (Amazon VPC)"))
}

// describeSpotPrices lists the spot prices in force; ec2sim keeps no older ones.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html
func (s *offerings) describeSpotPrices(c *operation.Call, in *spotPricesRequest) (any, error) {
	if in.AvailabilityZone != "" && in.ZoneID != "" {
		return nil, awserr.New(awserr.InvalidCombination, "Specify either an Availability Zone name or an ID, but not both")
	}
	if !in.StartTime.IsZero() && !in.EndTime.IsZero() && in.EndTime.Before(in.StartTime) {
		return nil, awserr.New(awserr.InvalidValue, "The end time is before the start time")
	}
	var all []spotPriceXML
	for _, name := range s.market.Names() {
		for _, z := range s.market.Zones() {
			price := s.market.Price(model.Option{InstanceType: name, Zone: z.Name, CapacityType: model.Spot})
			if price > 0 && in.asks(name, z) {
				all = append(all, spotPriceXML{name, linux, dollars(price), s.market.Since().UTC().Format(time.RFC3339), z.Name, z.ID})
			}
		}
	}
	found, err := listing.Choose(all, in.Filters, listing.By[spotPriceXML]{Fields: listing.Fields[spotPriceXML]{
		"availability-zone":    listing.Is(func(p spotPriceXML) string { return p.Zone }),
		"availability-zone-id": listing.Is(func(p spotPriceXML) string { return p.ZoneID }),
		"instance-type":        listing.Is(func(p spotPriceXML) string { return p.Type }),
		"product-description":  listing.Is(func(p spotPriceXML) string { return p.Product }),
		"spot-price":           listing.Is(func(p spotPriceXML) string { return p.Price }),
		"timestamp":            listing.Is(func(p spotPriceXML) string { return p.Time }),
	}})
	if err != nil {
		return nil, err
	}
	pages := in.Paging
	if pages.MaxResults == nil || *pages.MaxResults > 1000 {
		most := 1000
		pages.MaxResults = &most
	}
	items, next, err := listing.Page(found, pages, 1, 1000)
	return struct {
		Prices    []spotPriceXML `xml:"spotPriceHistorySet>item"`
		NextToken string         `xml:"nextToken"`
	}{items, next}, err
}

// dollars writes a price with six decimals, as the price history does.
func dollars(p model.Price) string { return strconv.FormatFloat(p.USD(), 'f', 6, 64) }
