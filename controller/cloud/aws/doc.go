// Package aws is the provider for Amazon EC2: the provider port over
// aws-sdk-go-v2, for node classes of kind EC2NodeClass.
//
// Provider puts the packages below it together; each owns its state:
//
//	client          calls to AWS: interfaces, limits, error kinds
//	batch           questions of many callers in one call
//	bootstrap       user data by AMI family
//	resolve         subnets, security groups, images, profiles, the cluster
//	market          types, prices, and a class's catalogue
//	availability    sold-out offerings, reservations, zonal shifts
//	launchtemplate  launch templates
//	instances       instances that run
//	fleet           launches
//	events          the interruption queue and failed status checks
//
// nodeclass and upkeep are the reconcilers beside it.
//
// Not here: what to launch (controller/core/decide), and anything that knows whether the
// endpoint is AWS's or an emulator's.
package aws
