// Package v1 holds the Go types of the karpenter.sh/v1 API: NodePool and
// NodeClaim, with the labels, annotations, taints, finalizers, condition types
// and event reasons that travel with them.
//
// The types are our own, and the wire format is Karpenter's: same group, kinds,
// JSON names, defaults and validation, so that a cluster's manifests keep
// working when the controller behind them changes. The custom resource
// definitions in charts/spokeshave/files/crds are generated from the markers in
// this package.
//
// Not here: behaviour. This package imports apimachinery and the core API types
// only; what a NodePool means is decided in controller/kube/lower and beyond.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.sh
package v1
