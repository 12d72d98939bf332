// Package model defines the values that a decision consists of: the Snapshot, which
// is the input (pools, catalogues, nodes, pods), and the Plan, which is the result.
//
// It imports the standard library only, so that a decision can be computed wherever
// a snapshot can be read: in the cluster, on a laptop, in a test.
//
// Kubernetes objects are translated by package controller/kube/lower. This package
// has no clocks, no clients, and no code that decides something.
package model
