// Package v1 holds the Go types of the karpenter.k8s.aws/v1 API: EC2NodeClass,
// with the labels, annotations, tags, extended resources and condition types of
// the AWS provider.
//
// The types are our own, and the wire format is Karpenter's. The custom
// resource definition in charts/spokeshave/files/crds is generated from the
// markers in this package.
//
// Not here: calls to AWS. This package imports apimachinery and the core API
// types only; the calls are in controller/cloud/aws.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.k8s.aws
package v1
