// Package simulator is AWS for one region of one account, as far as a node
// autoscaler calls it: an http.Handler to which the AWS SDKs talk as to AWS. It
// answers EC2, IAM, STS, SSM, SQS, Pricing, EKS and zonal shift calls, keeps
// state, and refuses what AWS refuses.
//
// Each service is a package below this one, which knows neither HTTP nor the
// other services' state; this package puts them together, reads requests, orders
// faults and holds the one lock. Time is the configured clock's, and identifiers
// derive from the seed, so that a run can be repeated.
//
// Under /_sim/ is a control API of our own: faults to order, prices, capacity,
// interruptions, and a look at the state.
//
// Not here: signatures (a credential scope is read, not verified), and virtual
// machines. What boots on an instance is played by simulator/joiner.
package simulator
