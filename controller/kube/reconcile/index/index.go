// Package index names the field indexes of the watch cache, by which reconcilers find
// objects: nodes and claims by provider ID, claims by instance and by decision, pods
// by node.
package index

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/managed"
)

// The fields. Claims of other controllers are in none of them. Each is the key of client.MatchingFields for the kinds that it names.
const (
	// ProviderID finds nodes and claims by provider ID.
	ProviderID = "providerID"
	// Instance finds claims by the cloud's id of their instance.
	Instance = "instance"
	// Decision finds claims by the decision that created them.
	Decision = "decision"
	// Announced finds claims by the owners of the announced pods that they were made for, as
	// "kind/namespace/name".
	Announced = "announced"
	// Planned finds claims by the pods that were planned on them, as "namespace/name".
	Planned = "planned"
	// NodeName finds pods by the node they are bound to.
	NodeName = "spec.nodeName"
)

// Register adds the field indexes to the cache, which has to be done before it starts.
func Register(ctx context.Context, ix client.FieldIndexer) error {
	for _, each := range []struct {
		object client.Object
		field  string
		value  func(client.Object) string
	}{
		{&corev1.Node{}, ProviderID, func(o client.Object) string { return o.(*corev1.Node).Spec.ProviderID }},
		{&karpv1.NodeClaim{}, ProviderID, ofClaim(func(c *karpv1.NodeClaim) string { return c.Status.ProviderID })},
		{&karpv1.NodeClaim{}, Instance, ofClaim(func(c *karpv1.NodeClaim) string { return instanceOf(c.Status.ProviderID) })},
		{&karpv1.NodeClaim{}, Decision, ofClaim(func(c *karpv1.NodeClaim) string { return c.Annotations[karpv1.AnnotationDecision] })},
		{&corev1.Pod{}, NodeName, func(o client.Object) string { return o.(*corev1.Pod).Spec.NodeName }},
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
	for field, extract := range map[string]client.IndexerFunc{Announced: announcedOn, Planned: plannedOn} {
		if err := ix.IndexField(ctx, &karpv1.NodeClaim{}, field, extract); err != nil {
			return fmt.Errorf("index claims by %s: %w", field, err)
		}
	}
	return nil
}

// plannedOn returns the pods that were planned on a claim of this controller; none when they
// cannot be read.
func plannedOn(o client.Object) []string {
	c, ok := o.(*karpv1.NodeClaim)
	if !ok || !managed.Claim(c) {
		return nil
	}
	return lower.PlannedPods(c)
}

// announcedOn returns the owners whose announced pods are planned on a claim of this
// controller.
func announcedOn(o client.Object) []string {
	c, ok := o.(*karpv1.NodeClaim)
	if !ok || !managed.Claim(c) {
		return nil
	}
	return slices.Collect(maps.Keys(lower.AnnouncedPods(c)))
}

// ofClaim indexes the claims of this controller; those of others are not found.
func ofClaim(value func(*karpv1.NodeClaim) string) func(client.Object) string {
	return func(o client.Object) string {
		if c, ok := o.(*karpv1.NodeClaim); ok && managed.Claim(c) {
			return value(c)
		}
		return ""
	}
}

// instanceOf is the last part of a provider ID, empty when there is none.
func instanceOf(providerID string) string {
	if providerID == "" {
		return ""
	}
	return path.Base(providerID)
}
