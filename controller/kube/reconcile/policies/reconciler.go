// Package policies keeps the loader in step with the ConfigMaps that contain policies.
// It reports to their authors whether they were loaded: by an event on the ConfigMap,
// and in one status object for all policies.
package policies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/policy/load"
)

// Reconciler loads policies on every replica, so that a new leader has them.
type Reconciler struct {
	Client client.Client
	// Live reads from the API server: the cache holds no copies.
	Live   client.Reader
	Events events.EventRecorder
	Loader *load.Loader
	// Namespace is the controller's; Plugins are the other namespaces whose policies
	// are watched.
	Namespace string
	Plugins   []string
	// Leading reports whether this replica leads. Only the leader sends events and
	// writes copies.
	Leading func() bool
	// Changed is called when the set of policies in force has changed.
	Changed func()
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	everywhere := false
	sweep := manager.RunnableFunc(func(ctx context.Context) error {
		if err := r.Sweep(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "copies of deleted policies stay until the next start")
		}
		return nil
	})
	if err := mgr.Add(sweep); err != nil {
		return fmt.Errorf("add the sweep of policy copies: %w", err)
	}
	ours := predicate.NewPredicateFuncs(func(o client.Object) bool {
		return o.GetLabels()[karpv1.LabelPolicy] == "true" &&
			(o.GetNamespace() == r.Namespace || slices.Contains(r.Plugins, o.GetNamespace()))
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("policy").
		For(&corev1.ConfigMap{}, builder.WithPredicates(ours)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4, NeedLeaderElection: &everywhere}).
		Complete(r)
}

// all returns the ConfigMaps that contain policies.
func (r *Reconciler) all(ctx context.Context) ([]corev1.ConfigMap, error) {
	var out []corev1.ConfigMap
	for _, ns := range slices.Concat([]string{r.Namespace}, r.Plugins) {
		var some corev1.ConfigMapList
		if err := r.Client.List(ctx, &some, client.InNamespace(ns), client.MatchingLabels{karpv1.LabelPolicy: "true"}); err != nil {
			return nil, fmt.Errorf("list policies in namespace %s: %w", ns, err)
		}
		out = append(out, some.Items...)
	}
	return out, nil
}

// retry is after how long a policy is loaded again that was rejected because a time
// limit was exceeded.
const retry = time.Minute

// awaitPoll is how often Await checks.
const awaitPoll = 50 * time.Millisecond

// Await returns when every policy that exists has been loaded or rejected.
func (r *Reconciler) Await(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, awaitPoll, true, func(ctx context.Context) (bool, error) {
		policies, err := r.all(ctx)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "policies cannot be listed yet")
			return false, nil
		}
		return !slices.ContainsFunc(policies, func(cm corev1.ConfigMap) bool {
			return !r.Loader.Judged(load.Key{Namespace: cm.Namespace, Name: cm.Name})
		}), nil
	})
}

// Reconcile loads the policy in one ConfigMap, or unloads it when the ConfigMap is
// gone.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	log := ctrl.LoggerFrom(ctx)
	cm := &corev1.ConfigMap{}
	err := r.Client.Get(ctx, req.NamespacedName, cm)
	key := load.Key{Namespace: req.Namespace, Name: req.Name}
	if apierrors.IsNotFound(err) {
		changed, err := r.Loader.Delete(ctx, key)
		if changed {
			log.Info("policy is gone")
			r.Changed()
		}
		return reconcile.Result{}, errors.Join(err, r.forget(ctx, key, ""))
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read policy %s: %w", req, err)
	}
	changed, err := r.Loader.Apply(ctx, cm)
	switch {
	case err != nil && !changed:
		log.Error(err, "policy rejected")
		r.tell(cm, corev1.EventTypeWarning, "PolicyRejected", err.Error())
		// Only a change by the author helps, and that causes an event. A time limit
		// that was exceeded may hold the next time.
		again := reconcile.Result{}
		if load.Transient(err) {
			again.RequeueAfter = retry
		}
		return again, r.restore(ctx, cm)
	case changed:
		log.Info("policy in force")
		r.tell(cm, corev1.EventTypeNormal, "PolicyActive", "the policy is in force")
		r.Changed()
		return reconcile.Result{}, errors.Join(err, r.keep(ctx, cm))
	}
	return reconcile.Result{}, nil
}

func (r *Reconciler) tell(cm *corev1.ConfigMap, kind, reason, text string) {
	const most = 1000
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…" // not in the middle of a UTF-8 character
	}
	if r.Leading() {
		r.Events.Eventf(cm, nil, kind, reason, "Load", "%s", text)
	}
}
