// Package scenario reads a cluster from manifests and writes decisions down:
// files and folders of Kubernetes objects become a model.Snapshot through
// controller/kube/lower, the same translation that a live cluster takes; decisions
// become the JSON and the tables of `spokeshave simulate`.
//
// Manifests are read strictly: an unknown field is an error with file and
// line. Workloads stand for the pods that they would make.
//
// Not here: compiling policies (their ConfigMaps are handed out as they are),
// deciding, and anything that talks to a cluster.
package scenario
