// Package ids makes the names of simulated resources: identifiers that derive
// from a seed, so that a run can be repeated, and ARNs.
package ids
