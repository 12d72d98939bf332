// Package load turns ConfigMaps and folders into compiled policies, keeps the
// last good version of each, and says of every one what became of it.
//
// A bad revision never replaces a good one. What is loaded is swapped as a
// whole: a decision sees the policies of one moment.
//
// Not here: watching ConfigMaps and writing status (reconcile/policies), and
// the engines (policy/wasm, policy/rego), which are handed in by name.
package load
