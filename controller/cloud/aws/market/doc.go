// Package market knows what the region sells: instance types with their resources and
// zones, on-demand, spot and volume prices, asked of AWS from time to time over an
// embedded catalogue (Market). Catalogue makes of it what one EC2NodeClass can launch,
// with discounts, the memory that registered nodes reported, and what kubelet reserves.
//
// Not here: what cannot be had at the moment (package availability).
package market
