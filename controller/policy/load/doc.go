// Package load turns ConfigMaps and folders into compiled policies, keeps the last
// good version of each, and reports the state of each.
//
// A revision that cannot be loaded never replaces a good one. Policies changes as a
// whole, so that a decision uses a consistent set of policies.
//
// ConfigMaps are watched and statuses written by package reconcile/policies. The
// engines (policy/wasm, policy/rego) are given to New by name.
package load
