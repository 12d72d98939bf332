// Package check proves a plan right from the snapshot: every placement is
// derived again from what Kubernetes and the catalogue say, the slow and
// obvious way.
//
// It shares neither code nor prepared data with controller/core/solver, so that one
// mistake cannot hide in both. Tests, fuzzers, simulate and the controller run
// it before a plan is applied.
//
// Not here: whether a plan is cheap (that is a matter of benchmarks), whether
// a pod without a place could have had one, preferences, and the weights of
// NodePools.
package check
