// Package anonymize replaces the names in a snapshot, so that the snapshot can be given
// to others: names of namespaces, pods, workloads, nodes, NodePools, node classes and
// the cluster, and the labels, taints and resources that are not defined by Kubernetes,
// Karpenter or AWS.
//
// Equal names stay equal and keep their order, so that selectors select the same pods
// and the decision is the same as with the real names.
//
// Policies are not changed, because a policy is a program that may contain any text.
// Leave them out when you give a snapshot away.
package anonymize
