// Package catalog holds what EC2 sells: an embedded catalogue of instance
// types with prices for the regions of AWS, and Lower, which turns facts and prices
// (embedded, or fresh from EC2) into the model.Catalog that decisions use:
// labels, capacity, and what kubelet leaves allocatable.
//
// The embedded data is written by gen (go generate); data/NOTICE carries its
// licence. It gives zones their names by a convention, because AWS shuffles
// them per account: zone ID use1-az1 is us-east-1a, and so on. It deals the
// region's spot prices to zones, because its source does not tie them. Of half of the
// regions it has on-demand prices only, and offers every type in zones a, b and c. Prices
// in China are in CNY. Estimator derives on-demand prices that are in no list.
//
// Not here: calls to AWS (controller/cloud/aws) and what to choose.
package catalog

//go:generate go -C gen run . -out ../data
