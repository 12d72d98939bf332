// Package raise makes Kubernetes objects of a snapshot: the way back from
// controller/kube/lower, for snapshots that were drawn from a seed and never had
// objects.
package raise
