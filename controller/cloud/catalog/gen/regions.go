package main

import (
	_ "embed"
	"regexp"
)

// prices are on-demand prices per hour by region and type, in the region's currency.
type prices map[string]map[string]float64

// chinaPrices are prices of the regions in China, which the source lacks, in CNY: one size
// of each family whose sizes are proportional in price, and all sizes of the others. They
// are those of the public price list of November 2024.
// https://www.amazonaws.cn/en/ec2/pricing/
//
//go:embed china.json
var chinaPrices []byte

// regionName matches regions. The source also names Local Zones (us-west-2-lax-1) and
// Wavelength Zones (us-west-2-wl1-las1).
var regionName = regexp.MustCompile(`^[a-z]{2}(-gov)?-[a-z]+-[0-9]$`)

// regionsOf are the regions with prices.
func regionsOf(source []instance, china prices) []string {
	seen := map[string]bool{}
	var out []string
	add := func(region string) {
		if regionName.MatchString(region) && !seen[region] {
			seen[region] = true
			out = append(out, region)
		}
	}
	for i := range source {
		for region := range source[i].Pricing {
			add(region)
		}
	}
	for region := range china {
		add(region)
	}
	return out
}
