package pricing

import (
	"fmt"
	"strconv"
)

// VolumePrice is what a volume type costs a month, ordered under
// /_sim/volumeprices: dollars for each GiB, IOPS and MiB/s; 0 is not sold so.
type VolumePrice struct {
	Type       string  `json:"type"`
	GiB        float64 `json:"gib"`
	IOPS       float64 `json:"iops,omitempty"`
	Throughput float64 `json:"throughput,omitempty"`
}

// volumePrices are those of us-east-1.
// https://aws.amazon.com/ebs/pricing/
func volumePrices() []VolumePrice {
	return []VolumePrice{
		{Type: "gp3", GiB: 0.08, IOPS: 0.005, Throughput: 0.04},
		{Type: "gp2", GiB: 0.1},
		{Type: "io1", GiB: 0.125, IOPS: 0.065},
		{Type: "io2", GiB: 0.125, IOPS: 0.065},
		{Type: "st1", GiB: 0.045},
		{Type: "sc1", GiB: 0.015},
		{Type: "standard", GiB: 0.05},
	}
}

// SetVolumePrices replaces the prices of volume types.
func (s *Service) SetVolumePrices(all []VolumePrice) error {
	for _, p := range all {
		at := -1
		for i := range s.volumes {
			if s.volumes[i].Type == p.Type {
				at = i
			}
		}
		if at < 0 || !(p.GiB >= 0 && p.IOPS >= 0 && p.Throughput >= 0) {
			return fmt.Errorf("price of volume type %q: no such type, or a negative price", p.Type)
		}
		s.volumes[at] = p
	}
	return nil
}

// volumeProducts are the entries of the price list about volumes, which stand in
// three product families.
func (s *Service) volumeProducts(filters []productFilter) []map[string]any {
	var out []map[string]any
	for _, p := range s.volumes {
		month := "GB-Mo"
		if p.Type == "io2" {
			month = "GB-month" // the list is not uniform
		}
		for _, e := range []struct {
			family, usage, unit string
			price               float64
		}{
			{"Storage", "EBS:VolumeUsage." + p.Type, month, p.GiB},
			{"System Operation", "EBS:VolumeP-IOPS." + p.Type, "IOPS-Mo", p.IOPS},
			{"Provisioned Throughput", "EBS:VolumeP-Throughput." + p.Type, "GiBps-mo", p.Throughput * 1024},
		} {
			attributes := map[string]string{
				"productFamily": e.family, "serviceCode": "AmazonEC2", "servicecode": "AmazonEC2", "servicename": "Amazon Elastic Compute Cloud",
				"regionCode": s.region, "locationType": "AWS Region", "volumeApiName": p.Type, "usagetype": e.usage,
			}
			if e.price > 0 && matchesProduct(attributes, filters) {
				out = append(out, s.volumeProduct(attributes, e.unit, e.price))
			}
		}
	}
	return out
}

func (s *Service) volumeProduct(attributes map[string]string, unit string, price float64) map[string]any {
	sku := s.ids.Upper("", "sku", attributes["usagetype"])
	family := attributes["productFamily"]
	delete(attributes, "productFamily")
	delete(attributes, "serviceCode")
	term := sku + "." + onDemandTerm
	return map[string]any{
		"serviceCode": "AmazonEC2",
		"product":     map[string]any{"productFamily": family, "attributes": attributes, "sku": sku},
		"terms": map[string]any{"OnDemand": map[string]any{term: map[string]any{
			"sku": sku, "offerTermCode": onDemandTerm,
			"priceDimensions": map[string]any{term + "." + hourlyRate: map[string]any{
				"unit": unit, "beginRange": "0", "endRange": "Inf", "pricePerUnit": map[string]string{"USD": strconv.FormatFloat(price, 'f', 10, 64)},
			}},
		}}},
	}
}
