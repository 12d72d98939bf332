package policies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/policy/load"
)

// A copy is an immutable ConfigMap in the controller's namespace with the last valid
// contents of a policy. Its name derives from the policy and the contents. With it, the
// last valid version survives a restart while the policy's own ConfigMap is broken.
const (
	labelCopy    = karpv1.Domain + "/policy-copy"
	annotationOf = karpv1.Domain + "/copy-of" // namespace/name
)

// keep copies the version that is in force and deletes older copies. Only the leader
// does so.
func (r *Reconciler) keep(ctx context.Context, cm *corev1.ConfigMap) error {
	if !r.Leading() {
		return nil
	}
	key := load.Key{Namespace: cm.Namespace, Name: cm.Name}
	hash := r.Loader.InForce(key)
	if hash == "" {
		return nil
	}
	immutable := true
	kept := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Namespace, Name: copyName(key, hash),
			Labels:      map[string]string{labelCopy: "true"},
			Annotations: map[string]string{annotationOf: key.Namespace + "/" + key.Name},
		},
		Data: cm.Data, BinaryData: cm.BinaryData, Immutable: &immutable,
	}
	if err := r.Client.Create(ctx, kept); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("keep a copy of policy %s/%s: %w", key.Namespace, key.Name, err)
	}
	return r.forget(ctx, key, kept.Name)
}

// copyName returns the name of a copy. It differs between policies also when their
// contents are equal.
func copyName(key load.Key, hash string) string {
	sum := sha256.Sum256([]byte(key.Namespace + "/" + key.Name + "/" + hash))
	return "spokeshave-policy-" + hex.EncodeToString(sum[:8])
}

// copies returns the copies of a policy.
func (r *Reconciler) copies(ctx context.Context, key load.Key) ([]corev1.ConfigMap, error) {
	var all corev1.ConfigMapList
	if err := r.Live.List(ctx, &all, client.InNamespace(r.Namespace), client.MatchingLabels{labelCopy: "true"}); err != nil {
		return nil, fmt.Errorf("list copies of policy %s/%s: %w", key.Namespace, key.Name, err)
	}
	var out []corev1.ConfigMap
	for i := range all.Items {
		if all.Items[i].Annotations[annotationOf] == key.Namespace+"/"+key.Name {
			out = append(out, all.Items[i])
		}
	}
	return out, nil
}

// forget deletes a policy's copies except the one named.
func (r *Reconciler) forget(ctx context.Context, key load.Key, except string) error {
	if !r.Leading() {
		return nil
	}
	old, err := r.copies(ctx, key)
	if err != nil {
		return err
	}
	for i := range old {
		if old[i].Name == except {
			continue
		}
		if err := r.Client.Delete(ctx, &old[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete copy %s: %w", old[i].Name, err)
		}
	}
	return nil
}

// Sweep runs when a replica becomes leader. It deletes the copies of policies that were
// deleted while no controller ran, and copies the policies that were loaded before.
func (r *Reconciler) Sweep(ctx context.Context) error {
	policies, err := r.all(ctx)
	if err != nil {
		return err
	}
	for i := range policies {
		cm := &policies[i]
		src, err := load.ParseConfigMap(cm)
		if err != nil || src.Info.Hash != r.Loader.InForce(load.Key{Namespace: cm.Namespace, Name: cm.Name}) {
			continue
		}
		if err := r.keep(ctx, cm); err != nil {
			return err
		}
	}
	return r.sweep(ctx)
}

func (r *Reconciler) sweep(ctx context.Context) error {
	var all corev1.ConfigMapList
	if err := r.Live.List(ctx, &all, client.InNamespace(r.Namespace), client.MatchingLabels{labelCopy: "true"}); err != nil {
		return fmt.Errorf("list copies of policies: %w", err)
	}
	for i := range all.Items {
		kept := &all.Items[i]
		namespace, name, _ := strings.Cut(kept.Annotations[annotationOf], "/")
		err := r.Live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &corev1.ConfigMap{})
		if err == nil {
			continue
		}
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("look for policy %s/%s: %w", namespace, name, err)
		}
		if err := r.Client.Delete(ctx, kept); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete copy %s: %w", kept.Name, err)
		}
	}
	return nil
}

// restore loads the copy of a rejected policy when no version of it is in force, as
// after a restart. It then has the broken revision rejected again, so that the status
// shows both.
func (r *Reconciler) restore(ctx context.Context, broken *corev1.ConfigMap) error {
	key := load.Key{Namespace: broken.Namespace, Name: broken.Name}
	if r.Loader.InForce(key) != "" {
		return nil
	}
	kept, err := r.copies(ctx, key)
	if err != nil || len(kept) == 0 {
		return err
	}
	last := kept[0].DeepCopy()
	last.Namespace, last.Name = key.Namespace, key.Name
	if _, err := r.Loader.Apply(ctx, last); err != nil {
		return fmt.Errorf("restore policy from copy %s: %w", kept[0].Name, err)
	}
	ctrl.LoggerFrom(ctx).Info("the last good version is in force again", "copy", kept[0].Name)
	r.Changed()
	if _, err := r.Loader.Apply(ctx, broken); err == nil {
		return fmt.Errorf("policy %s/%s was rejected, and now it is not", key.Namespace, key.Name)
	}
	return nil
}
