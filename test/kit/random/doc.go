// Package random makes clusters for tests: snapshots and the answers of policies,
// from a seed. One seed makes the same values on every machine, as long as this
// package does not change: files that pin plans depend on the order of its draws.
//
// Tests of the solver draw what they need from a Generator. The digests that
// tools/digests records are of Scenarios, which together use everything that the
// model has words for.
//
// The package imports the model and the standard library only, so that tests
// inside the core's packages can use it.
package random
