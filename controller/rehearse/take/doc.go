// Package take reads a snapshot from a live cluster, for `spokeshave snapshot`:
// with the user's own kubeconfig, by GET alone, and never a Secret. What it
// reads is lowered by the code that lowers manifests, which is the
// controller's.
package take
