package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/reconcile/condition"
)

// register matches the node to its claim: labels, taints and finalizer first,
// then the nominations of the planned pods, and the unregistered taint last,
// so that no pod is bound before the scheduler knows the plan.
func (r *Reconciler) register(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionRegistered) {
		return nil
	}
	if err := r.adopt(ctx, claim, node); err != nil {
		return err
	}
	if err := r.nominate(ctx, claim, node); err != nil {
		return err
	}
	base := node.DeepCopy()
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == karpv1.TaintKeyUnregistered })
	node.Labels[karpv1.LabelRegistered] = "true"
	if err := r.Client.Patch(ctx, node, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("register node %s: %w", node.Name, err)
	}
	claim.Status.NodeName = node.Name
	condition.True(&claim.Status.Conditions, claim.Generation, karpv1.ConditionRegistered)
	return nil
}

// adopt gives the node what the claim promises.
func (r *Reconciler) adopt(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	base := node.DeepCopy()
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	maps.Copy(node.Labels, nodeLabels(claim))
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	for key, value := range claim.Annotations {
		if !strings.HasPrefix(key, karpv1.Domain) {
			node.Annotations[key] = value
		}
	}
	controllerutil.AddFinalizer(node, karpv1.FinalizerTermination)
	setOwner(node, claim)
	if node.Labels[karpv1.LabelDoNotSyncTaints] != "true" {
		node.Spec.Taints = mergeTaints(node.Spec.Taints, claim.Spec.Taints)
		node.Spec.Taints = mergeTaints(node.Spec.Taints, claim.Spec.StartupTaints)
	}
	if err := r.Client.Patch(ctx, node, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("adopt node %s: %w", node.Name, err)
	}
	return nil
}

func setOwner(node *corev1.Node, claim *karpv1.NodeClaim) {
	ref := metav1.OwnerReference{
		APIVersion: karpv1.GroupVersion.String(), Kind: "NodeClaim", Name: claim.Name, UID: claim.UID,
		BlockOwnerDeletion: new(true),
	}
	node.OwnerReferences = slices.DeleteFunc(node.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == claim.UID })
	node.OwnerReferences = append(node.OwnerReferences, ref)
}

func mergeTaints(have, add []corev1.Taint) []corev1.Taint {
	for _, t := range add {
		if !slices.ContainsFunc(have, func(h corev1.Taint) bool { return h.MatchTaint(&t) }) {
			have = append(have, t)
		}
	}
	return have
}

// nominate tells the scheduler where the plan put each pod. It is advice: a
// pod that has gone, or is bound elsewhere by now, is passed over.
func (r *Reconciler) nominate(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	text := claim.Annotations[karpv1.AnnotationPlannedPods]
	if text == "" {
		return nil
	}
	var planned []string
	if err := json.Unmarshal([]byte(text), &planned); err != nil {
		return fmt.Errorf("read annotation %s of %s: %w", karpv1.AnnotationPlannedPods, claim.Name, err)
	}
	for _, key := range planned {
		namespace, name, _ := strings.Cut(key, "/")
		pod := &corev1.Pod{}
		err := r.Client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, pod)
		if apierrors.IsNotFound(err) || err == nil && (pod.Spec.NodeName != "" || !pod.DeletionTimestamp.IsZero()) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read planned pod %s: %w", key, err)
		}
		patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"status":{"nominatedNodeName":%q}}`, pod.UID, node.Name)
		err = r.Client.Status().Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("nominate %s for pod %s: %w", node.Name, key, err)
		}
	}
	return nil
}
