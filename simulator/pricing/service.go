// Package pricing is the Price List query API for the products of one region:
// on-demand instances under Linux, and EBS volumes.
package pricing

import (
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
)

// Service is the price list. It is not safe for concurrent use.
type Service struct {
	region  string
	ids     *ids.Source
	market  *market.Market
	volumes []VolumePrice
}

// New is the price list of what a market sells, and of volumes at the prices of
// us-east-1.
func New(region string, source *ids.Source, sold *market.Market) *Service {
	return &Service{region: region, ids: source, market: sold, volumes: volumePrices()}
}

// Operations are the actions that this service answers.
func (s *Service) Operations() map[string]operation.Operation {
	return map[string]operation.Operation{"GetProducts": operation.JSON(s.getProducts)}
}
