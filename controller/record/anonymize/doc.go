// Package anonymize takes the names out of a snapshot, so that it can be shown
// to others: of namespaces, pods, workloads, nodes, NodePools, node classes and
// the cluster, and the labels, taints and resources that are not Kubernetes',
// Karpenter's or AWS's own.
//
// Equal names stay equal and keep their order among each other, so that
// selectors select the same pods and a decision comes out as it would have
// with the real names.
//
// Not here: policies, which are programs that may say anything. Who gives a
// snapshot away leaves them out.
package anonymize
