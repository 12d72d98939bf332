package termination

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/reconcile/index"
)

// attachedVolumes counts the attached volumes that must be detached before the node is
// terminated. Volumes of pods that stay are detached only when the node is gone, and
// are not counted.
func (r *Reconciler) attachedVolumes(ctx context.Context, node *corev1.Node) (int, error) {
	var all storagev1.VolumeAttachmentList
	if err := r.Client.List(ctx, &all); err != nil {
		return 0, fmt.Errorf("list volume attachments: %w", err)
	}
	var volumes []string
	for i := range all.Items {
		if spec := &all.Items[i].Spec; spec.NodeName == node.Name {
			name := ""
			if spec.Source.PersistentVolumeName != nil {
				name = *spec.Source.PersistentVolumeName
			}
			volumes = append(volumes, name)
		}
	}
	if len(volumes) == 0 {
		return 0, nil
	}
	kept, err := r.remainingVolumes(ctx, node)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, name := range volumes {
		if !kept[name] {
			n++
		}
	}
	return n, nil
}

// remainingVolumes returns the volumes of the pods for which the drain does not wait, except
// finished pods.
func (r *Reconciler) remainingVolumes(ctx context.Context, node *corev1.Node) (map[string]bool, error) {
	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, client.MatchingFields{index.NodeName: node.Name}); err != nil {
		return nil, fmt.Errorf("list pods of node %s: %w", node.Name, err)
	}
	out := map[string]bool{}
	for i := range pods.Items {
		p := &pods.Items[i]
		if isFinished(p) || !staysOnNode(p) && !r.isStuck(p) {
			continue
		}
		for _, name := range lower.VolumeClaims(p) {
			claim := &corev1.PersistentVolumeClaim{}
			err := r.Client.Get(ctx, types.NamespacedName{Namespace: p.Namespace, Name: name}, claim)
			if client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("read volume claim %s/%s: %w", p.Namespace, name, err)
			}
			if claim.Spec.VolumeName != "" {
				out[claim.Spec.VolumeName] = true
			}
		}
	}
	return out, nil
}
