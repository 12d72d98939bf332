// Package market is what a region sells: instance types, the zones that sell
// them, their prices, and how many more instances each capacity pool can give.
// EC2 launches from it and Pricing lists it.
package market
