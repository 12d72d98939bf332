// Package sim is an EC2-compatible endpoint for one region of one account: an
// http.Handler to which the AWS SDK for Go talks as it does to AWS. It answers
// the EC2, IAM, STS, SSM, SQS, Pricing and EKS calls that a node autoscaler
// makes, keeps state, and refuses what AWS refuses, each rule with the page of
// AWS's documentation that states it.
//
// Time is the configured clock's: instances move from pending to running and
// from shutting-down to terminated when they are looked at, so a test that
// steps the clock sees every state it wants to. Identifiers, addresses and spot
// capacity derive from the seed.
//
// Under /_sim/ is a control API of our own: faults to order, prices, capacity,
// interruptions, and a look at the state.
//
// Not here: signatures (a credential scope is read, not verified), permissions,
// fleets of type maintain and request, and virtual machines. What boots on an
// instance is played by simulator/joiner.
package sim
