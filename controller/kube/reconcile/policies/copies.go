package policies

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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
// contents of a policy. With it, the last valid version survives a restart while the
// policy's own ConfigMap is broken. The copies of a policy are numbered in the order in
// which they were made; the one with the highest number counts.
const (
	labelCopy      = karpv1.Domain + "/policy-copy"
	annotationOf   = karpv1.Domain + "/copy-of" // namespace/name
	annotationCopy = karpv1.Domain + "/copy-number"
)

// keep makes sure that the newest copy of the policy has the contents that are in
// force, and that there is no other copy. It does nothing when that was so at the end
// of an earlier call. Only the leader does so.
func (r *Reconciler) keep(ctx context.Context, key load.Key) error {
	hash, files := r.Loader.Good(key)
	if kept, _ := r.kept.Load(key); hash == "" || kept == hash || !r.Leading() {
		return nil
	}
	r.kept.Delete(key)
	old, err := r.copies(ctx, key)
	if err != nil {
		return err
	}
	if len(old) == 0 || load.Hash(&old[0]) != hash {
		next := 1
		if len(old) > 0 {
			next += copyNumber(&old[0])
		}
		if err := r.Client.Create(ctx, r.newCopy(key, hash, files, next)); err != nil {
			return fmt.Errorf("keep a copy of policy %s/%s: %w", key.Namespace, key.Name, err)
		}
	} else {
		old = old[1:]
	}
	if err := r.discard(ctx, old); err != nil {
		return err
	}
	r.kept.Store(key, hash)
	return nil
}

func (r *Reconciler) newCopy(key load.Key, hash string, files map[string][]byte, number int) *corev1.ConfigMap {
	immutable := true
	out := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Namespace, Name: copyName(key, hash, number),
			Labels:      map[string]string{labelCopy: "true"},
			Annotations: map[string]string{annotationOf: key.Namespace + "/" + key.Name, annotationCopy: strconv.Itoa(number)},
		},
		Data: map[string]string{}, BinaryData: map[string][]byte{}, Immutable: &immutable,
	}
	for name, text := range files {
		if utf8.Valid(text) {
			out.Data[name] = string(text)
		} else {
			out.BinaryData[name] = text
		}
	}
	return out
}

// copyName returns the name of a copy. It differs between policies also when their
// contents are equal, and between a policy's versions also when one returns.
func copyName(key load.Key, hash string, number int) string {
	sum := sha256.Sum256([]byte(key.Namespace + "/" + key.Name + "/" + hash + "/" + strconv.Itoa(number)))
	return "spokeshave-policy-" + hex.EncodeToString(sum[:8])
}

// mostCopies is the highest number of a copy. It is far from the end of int, because the next
// copy gets the next number.
const mostCopies = 1 << 30

// copyNumber returns a copy's number, 0 for one without a number that a copy can have.
func copyNumber(cm *corev1.ConfigMap) int {
	n, err := strconv.Atoi(cm.Annotations[annotationCopy])
	if err != nil || n < 1 || n > mostCopies {
		return 0
	}
	return n
}

// copies returns the copies of a policy, the newest first. Copies without a number come
// last, by the time of their creation and then by name.
func (r *Reconciler) copies(ctx context.Context, key load.Key) ([]corev1.ConfigMap, error) {
	var all corev1.ConfigMapList
	if err := r.Live.List(ctx, &all, client.InNamespace(r.Namespace), client.MatchingLabels{labelCopy: "true"}); err != nil {
		return nil, fmt.Errorf("list copies of policy %s/%s: %w", key.Namespace, key.Name, err)
	}
	out := slices.DeleteFunc(all.Items, func(cm corev1.ConfigMap) bool {
		return cm.Annotations[annotationOf] != key.Namespace+"/"+key.Name
	})
	slices.SortFunc(out, func(a, b corev1.ConfigMap) int {
		return cmp.Or(cmp.Compare(copyNumber(&b), copyNumber(&a)),
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// discard deletes copies.
func (r *Reconciler) discard(ctx context.Context, old []corev1.ConfigMap) error {
	var errs []error
	for i := range old {
		if err := r.Client.Delete(ctx, &old[i]); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("delete copy %s: %w", old[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// forget deletes all copies of a policy that does not exist any more.
func (r *Reconciler) forget(ctx context.Context, key load.Key) error {
	r.kept.Delete(key)
	if !r.Leading() {
		return nil
	}
	old, err := r.copies(ctx, key)
	if err != nil {
		return err
	}
	return r.discard(ctx, old)
}

// Sweep copies the policies in force that have no copy yet, and deletes the copies of
// policies that were deleted while no controller ran. It goes on after an error and
// returns all of them.
func (r *Reconciler) Sweep(ctx context.Context) error {
	policies, err := r.all(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i := range policies {
		errs = append(errs, r.keep(ctx, load.Key{Namespace: policies[i].Namespace, Name: policies[i].Name}))
	}
	var all corev1.ConfigMapList
	if err := r.Live.List(ctx, &all, client.InNamespace(r.Namespace), client.MatchingLabels{labelCopy: "true"}); err != nil {
		return errors.Join(append(errs, fmt.Errorf("list copies of policies: %w", err))...)
	}
	for i := range all.Items {
		errs = append(errs, r.sweep(ctx, &all.Items[i]))
	}
	return errors.Join(errs...)
}

// sweep deletes a copy whose policy does not exist. It leaves a copy that names no
// policy alone, because it was not made by keep.
func (r *Reconciler) sweep(ctx context.Context, kept *corev1.ConfigMap) error {
	namespace, name, ok := strings.Cut(kept.Annotations[annotationOf], "/")
	if !ok || namespace == "" || name == "" {
		return nil
	}
	err := r.Live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &corev1.ConfigMap{})
	switch {
	case err == nil:
		return nil
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("look for policy %s/%s: %w", namespace, name, err)
	}
	return r.discard(ctx, []corev1.ConfigMap{*kept})
}

// restore loads the newest copy that loads, of a rejected policy of which no version is
// in force, as after a restart. It then has the broken revision rejected again, so that
// the status shows both. again is after how long a copy is tried again that may load then,
// 0 for none. An error means that it is not known whether there is a copy.
func (r *Reconciler) restore(ctx context.Context, broken *corev1.ConfigMap) (again time.Duration, err error) {
	key := load.Key{Namespace: broken.Namespace, Name: broken.Name}
	if r.Loader.InForce(key) != "" {
		return 0, nil
	}
	kept, err := r.copies(ctx, key)
	if err != nil {
		return 0, err
	}
	log := ctrl.LoggerFrom(ctx)
	for i := range kept {
		last := kept[i].DeepCopy()
		last.Namespace, last.Name = key.Namespace, key.Name
		if _, err := r.Loader.Apply(ctx, last); err != nil {
			log.Error(err, "a copy of the last good version does not load", "copy", kept[i].Name)
			if load.Transient(err) {
				again = retry
			}
			continue
		}
		log.Info("the last good version is in force again", "copy", kept[i].Name)
		r.Changed()
		if _, err := r.Loader.Apply(ctx, broken); err == nil {
			log.Info("a policy that was rejected loads now")
		}
		return 0, nil
	}
	if len(kept) > 0 { // the status is to speak of the policy's own contents
		_, _ = r.Loader.Apply(ctx, broken)
	}
	return again, nil
}
