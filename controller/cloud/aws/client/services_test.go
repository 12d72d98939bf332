package client

import "testing"

// TestPricingRegion: few regions have the Price List service, China one of its own.
func TestPricingRegion(t *testing.T) {
	for region, want := range map[string]string{
		"us-west-2": "us-east-1", "ca-central-1": "us-east-1", "sa-east-1": "us-east-1", "eu-west-1": "eu-central-1", "me-south-1": "eu-central-1",
		"ap-northeast-1": "ap-south-1", "cn-north-1": "cn-northwest-1", "cn-northwest-1": "cn-northwest-1",
	} {
		if got := pricingRegion(region); got != want {
			t.Errorf("prices of %s are asked for in %s, want %s", region, got, want)
		}
	}
}
