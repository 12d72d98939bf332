// Package breaker stops mass deletions of nodes that no user has asked for, and asks: an
// event and a metric say what is stopped and which command allows it. It protects from
// an API server that was restored from an old backup, from a wrong clock, and from
// changes of the controller itself, such as a new default or another hash.
//
// A [Breaker] keeps what is stopped, and what the controller has seen so far, in the
// ConfigMap [Name]. The callers count: package garbage for instances without a claim,
// package expiration for nodes that are too old, package drift for nodes that do not
// match their NodePool or class any more (ADR 63).
//
// Not here: unhealthy nodes have a breaker of their own, in package repair.
package breaker
