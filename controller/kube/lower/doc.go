// Package lower translates Kubernetes objects into controller/core/model: pods into
// specs with effective requests, NodePools into pools, nodes and NodeClaims
// into nodes, and all of it together into a Snapshot (Build).
//
// It is the one translation: controller/kube/cluster feeds it from watches and
// controller/rehearse/scenario from files. It never changes the objects it is given,
// and what it returns may share maps with them.
//
// Not here: reading objects from anywhere, and deciding anything. What the model
// has no words for is named in PodSpec.Unsupported.
package lower
