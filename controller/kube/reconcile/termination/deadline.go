package termination

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// followDeadline brings the node's termination deadline to that of its claim, which may
// be edited while the node drains. A deadline that cannot be read changes nothing.
func followDeadline(ctx context.Context, c client.Client, node *corev1.Node, claim *karpv1.NodeClaim) error {
	if claim == nil {
		return nil
	}
	at := claim.Annotations[karpv1.AnnotationTerminationTimestamp]
	if at == node.Annotations[karpv1.AnnotationTerminationTimestamp] || !readable(at) {
		return nil
	}
	base := node.DeepCopy()
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	node.Annotations[karpv1.AnnotationTerminationTimestamp] = at
	if err := c.Patch(ctx, node, client.MergeFrom(base)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write deadline on node %s: %w", node.Name, err)
	}
	return nil
}

func readable(deadline string) bool {
	_, err := time.Parse(time.RFC3339, deadline)
	return err == nil
}
