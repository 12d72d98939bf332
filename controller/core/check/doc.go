// Package check proves that a plan is correct before anything is launched.
//
// It derives every rule from the Kubernetes documentation (the comments name
// the page and section) and from the catalogue in the snapshot, and evaluates
// it on the cluster as the plan leaves it: every pod is put on its node, labels
// are plain maps, and each rule is asked of each node on which the plan puts a
// pod. It shares the data types of controller/core/model with
// controller/core/solver and nothing else, neither algorithms nor prepared data
// nor names (TestNoSharedNames), so that one mistake cannot hide in both.
//
// # What is proven, and how
//
// A planned node may come up as any of its options, so every rule must hold
// for every option of every node.
//
// Rules that only get harder when more pods are bound are proven on the end
// state alone; they then hold at every moment before it: resources, host
// ports, taints, node selectors, anti-affinity, limits and ceilings.
//
// Required pod affinity gets easier when more pods are bound, so that the order
// of binding matters. Plan replays the scheduler: it starts with the pods that
// run already, binds each pod as soon as the documented rule allows, and
// searches for who can be the first of a group of pods that select each other.
// A pod that is bound in no order is placed wrongly.
//
// Topology spread is proven on the end state, with the least favourable number
// of pods in each domain. The steps before it are not replayed: the scheduler
// chooses among equal pods and equal nodes as it likes, and a pod that a
// constraint delays is tried again when another has been bound.
//
// Not here: whether a plan is cheap, whether a pod without a place could have
// had one, preferences, and the weights of NodePools.
package check
