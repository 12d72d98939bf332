package lifecycle

import (
	"context"
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// The field indexes that the reconcilers share.
const (
	// IndexProviderID finds nodes and claims by provider ID.
	IndexProviderID = "providerID"
	// IndexInstance finds claims by the cloud's id of their instance.
	IndexInstance = "instance"
	// IndexDecision finds claims by the decision that created them.
	IndexDecision = "decision"
	// IndexNodeName finds pods by the node they are bound to.
	IndexNodeName = "spec.nodeName"
)

// Index registers the field indexes with the cache.
func Index(ctx context.Context, ix client.FieldIndexer) error {
	for _, each := range []struct {
		object client.Object
		field  string
		value  func(client.Object) string
	}{
		{&corev1.Node{}, IndexProviderID, func(o client.Object) string { return o.(*corev1.Node).Spec.ProviderID }},
		{&karpv1.NodeClaim{}, IndexProviderID, func(o client.Object) string { return o.(*karpv1.NodeClaim).Status.ProviderID }},
		{&karpv1.NodeClaim{}, IndexInstance, func(o client.Object) string { return instanceOf(o.(*karpv1.NodeClaim).Status.ProviderID) }},
		{&karpv1.NodeClaim{}, IndexDecision, func(o client.Object) string { return o.GetAnnotations()[karpv1.AnnotationDecision] }},
		{&corev1.Pod{}, IndexNodeName, func(o client.Object) string { return o.(*corev1.Pod).Spec.NodeName }},
	} {
		extract := func(o client.Object) []string {
			if v := each.value(o); v != "" {
				return []string{v}
			}
			return nil
		}
		if err := ix.IndexField(ctx, each.object, each.field, extract); err != nil {
			return fmt.Errorf("index %T by %s: %w", each.object, each.field, err)
		}
	}
	return nil
}

// instanceOf is the last part of a provider ID, empty when there is none.
func instanceOf(providerID string) string {
	if providerID == "" {
		return ""
	}
	return path.Base(providerID)
}
