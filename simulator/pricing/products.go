package pricing

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
)

type productsRequest struct {
	ServiceCode   string
	FormatVersion string
	Filters       []productFilter
	MaxResults    *int
	NextToken     string
}

type productFilter struct {
	Field, Type, Value string
}

// getProducts lists the on-demand Linux prices of the region, one product for
// each type and tenancy, and those of volumes, 100 at a time.
// https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html
func (s *Service) getProducts(_ *operation.Call, in *productsRequest) (any, error) {
	if in.ServiceCode != "AmazonEC2" {
		return nil, awserr.New("NotFoundException", "The service %q has no products in ec2sim", in.ServiceCode)
	}
	for _, f := range in.Filters {
		if err := awserr.OneOf("Filters.Type", f.Type, "TERM_MATCH", "EQUALS", "CONTAINS", "ANY_OF", "NONE_OF"); err != nil || f.Type == "" {
			return nil, awserr.New("InvalidParameterException", "the filter type %q is not known", f.Type)
		}
	}
	all := []map[string]any{}
	for _, name := range s.market.Names() {
		price := s.market.OnDemand(name)
		if price <= 0 {
			continue
		}
		for _, tenancy := range s.tenancies(name) {
			attributes := s.productAttributes(name, tenancy)
			if matchesProduct(attributes, in.Filters) {
				all = append(all, s.product(name, attributes, price))
			}
		}
	}
	all = append(all, s.volumeProducts(in.Filters)...)
	hundred := 100
	if in.MaxResults == nil {
		in.MaxResults = &hundred
	}
	items, next, err := listing.Page(all, listing.Paging{MaxResults: in.MaxResults, NextToken: in.NextToken}, 1, 100)
	if err != nil {
		return nil, awserr.New("InvalidParameterException", "%s", awserr.Of(err).Message)
	}
	list := []string{}
	for _, item := range items {
		line, err := json.Marshal(item)
		if err != nil {
			return nil, fmt.Errorf("write product: %w", err)
		}
		list = append(list, string(line))
	}
	out := map[string]any{"FormatVersion": "aws_v1", "PriceList": list}
	if next != "" {
		out["NextToken"] = next
	}
	return out, nil
}

// tenancies are those that a type is listed under: shared, and dedicated for bare
// metal, whose price is the same under both. Karpenter asks for bare metal under
// Dedicated.
func (s *Service) tenancies(name string) []string {
	if s.market.Type(name).BareMetal {
		return []string{"Shared", "Dedicated"}
	}
	return []string{"Shared"}
}

// productAttributes are those by which products are filtered; productFamily and
// serviceCode stand beside the others in the answer.
func (s *Service) productAttributes(name, tenancy string) map[string]string {
	t := s.market.Type(name)
	family, usage := "Compute Instance", "BoxUsage:"
	if t.BareMetal {
		family = "Compute Instance (bare metal)"
	}
	if tenancy == "Dedicated" {
		usage = "DedicatedUsage:"
	}
	return map[string]string{
		"productFamily": family, "serviceCode": "AmazonEC2", "servicecode": "AmazonEC2", "servicename": "Amazon Elastic Compute Cloud",
		"instanceType": name, "regionCode": s.region, "locationType": "AWS Region", "operatingSystem": "Linux",
		"preInstalledSw": "NA", "capacitystatus": "Used", "marketoption": "OnDemand", "tenancy": tenancy,
		"licenseModel": "No License required", "operation": "RunInstances", "usagetype": usage + name,
		"currentGeneration": "Yes", "vcpu": strconv.Itoa(t.VCPU),
		"memory": strconv.FormatFloat(float64(t.MemoryMiB)/1024, 'f', -1, 64) + " GiB",
	}
}

func matchesProduct(attributes map[string]string, filters []productFilter) bool {
	for _, f := range filters {
		value := ""
		for name, v := range attributes {
			if strings.EqualFold(name, f.Field) {
				value = v
			}
		}
		var ok bool
		switch f.Type {
		case "CONTAINS":
			ok = strings.Contains(value, f.Value)
		case "ANY_OF", "NONE_OF":
			any := false
			for v := range strings.SplitSeq(f.Value, ",") {
				any = any || v == value
			}
			ok = any == (f.Type == "ANY_OF")
		default:
			ok = value == f.Value
		}
		if !ok {
			return false
		}
	}
	return true
}

// Codes of the on-demand offer and of its hourly rate, the same for all of EC2.
const (
	onDemandTerm = "JRTCKXETXF"
	hourlyRate   = "6YS6EN2CT7"
)

func (s *Service) product(name string, attributes map[string]string, price model.Price) map[string]any {
	sku := s.ids.Upper("", "sku", name, attributes["tenancy"])
	family := attributes["productFamily"]
	delete(attributes, "productFamily")
	delete(attributes, "serviceCode")
	term, rate := sku+"."+onDemandTerm, sku+"."+onDemandTerm+"."+hourlyRate
	return map[string]any{
		"serviceCode": "AmazonEC2",
		"product":     map[string]any{"productFamily": family, "attributes": attributes, "sku": sku},
		"terms": map[string]any{"OnDemand": map[string]any{term: map[string]any{
			"sku": sku, "offerTermCode": onDemandTerm, "termAttributes": map[string]any{},
			"effectiveDate": s.market.Since().UTC().Format("2006-01-02T15:04:05Z"),
			"priceDimensions": map[string]any{rate: map[string]any{
				"unit": "Hrs", "beginRange": "0", "endRange": "Inf", "appliesTo": []string{}, "rateCode": rate,
				"description":  fmt.Sprintf("$%s per On Demand Linux %s Instance Hour", market.Dollars(price), name),
				"pricePerUnit": map[string]string{"USD": strconv.FormatFloat(price.USD(), 'f', 10, 64)},
			}},
		}}},
		"version":         "20260801000000",
		"publicationDate": s.market.Since().UTC().Format("2006-01-02T15:04:05Z"),
	}
}
