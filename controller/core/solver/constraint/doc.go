// Package constraint says which pods may share a node or a topology domain, and
// which nodes a pod may run on, by the rules of the Kubernetes scheduler.
//
// A Group is a set of pods that topology constraints count by domain: the pods
// that match some selectors, on nodes with a label. Groups numbers those that
// matter to the pods to place; Terms are, for equal pods, their rules about groups
// and the groups that count them. NodeCounts hold what per-host groups count on
// one node and say how many more pods may join it. Ports and ConflictGraph say
// which pods exclude each other from a node whatever else is there.
//
// Selects, Untolerated and PermanentTaints decide about single nodes by labels and
// taints. The texts of this package (SelectorText and others) are equal for
// constraints that mean the same, so that these are found to be equal.
//
// Not here: how many pods a group counts in a domain such as a zone, which depends
// on the nodes (controller/core/solver/domains), and what fits by resources.
package constraint
