// Package explain says why a pod has no place: for every NodePool, the first thing
// that keeps it from launching a node for the pod.
//
// The offerings of a pool's catalogue are followed through the requirements in the
// order in which people meet them: what the pod asks of a node, what the pool
// requires, host ports, size, whether the offering is sold out, what rank policies
// and reviews have refused. The reason names the step that no offering passed. What
// passes all of them is stopped by a bound of the plan, which the caller explains.
//
// The package knows neither classes nor numbers of offers: the caller hands it pools and
// offerings as Pool and Offering. Finding reasons takes as long as packing, so it is
// done for the plan that is kept, and for no other.
//
// Not here: why existing nodes did not take a pod (controller/core/check), and reasons from
// constraints between pods, which are found where pods are assigned to domains.
package explain
