// Package lower translates Kubernetes objects into controller/core/model: pods into
// specs with effective requests, NodePools into pools, nodes and NodeClaims into nodes,
// and all of them together into a Snapshot (Build).
//
// No other package does this translation: controller/kube/cluster calls it with objects
// from watches, controller/rehearse/scenario with objects from files. It never changes
// the objects it is given. The values it returns may share maps with them.
//
// It neither reads objects from anywhere nor decides anything. What a pod asks for and
// the model cannot express is listed in PodSpec.Unsupported.
package lower
