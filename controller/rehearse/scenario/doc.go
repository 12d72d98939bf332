// Package scenario reads a cluster from manifests and formats decisions. Files and
// folders of Kubernetes objects become a model.Snapshot through controller/kube/lower,
// as the objects of a live cluster do. Decisions become the JSON and the tables of
// `spokeshave simulate`.
//
// Manifests are read strictly: an unknown field is an error with file and line. For a
// workload such as a Deployment, the pods that it would create are added.
//
// It does not compile policies (it returns their ConfigMaps), decide, or connect to a
// cluster.
package scenario
