// Package model holds the values that every decision is made of: the Snapshot
// that goes in (pools, catalogues, nodes, pods) and the Plan that comes out.
//
// It imports the standard library only, so that the decision core can run
// anywhere a snapshot can be read: in the cluster, on a laptop, in a test.
//
// Not here: Kubernetes objects (controller/kube/lower translates them), clocks,
// clients, and any behaviour that decides something.
package model
