// Package policies keeps the loader in step with the ConfigMaps that contain policies.
// It reports to their authors whether they were loaded: by an event on the ConfigMap,
// and in one status object for all policies.
package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/configmap"
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
	// Revisions counts what was loaded and what was rejected.
	Revisions *Revisions
	// Clock tells whether a policy is suspended now.
	Clock clock.WithTicker

	// kept has by policy the hash of the contents of its only copy, settled the
	// policies that were loaded, restored, or found to have no version that loads.
	kept, settled sync.Map
}

const (
	// sweepEvery is how often copies are compared with policies.
	sweepEvery = 10 * time.Minute
	// sweepRetry is after how long that is done again when it failed.
	sweepRetry = 5 * time.Second
)

// sweepForever runs Sweep until the context ends.
func (r *Reconciler) sweepForever(ctx context.Context) error {
	for {
		pause := sweepEvery
		if err := r.Sweep(ctx); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "copies of policies are compared again")
			pause = sweepRetry
			if configmap.Refused(err) {
				pause = refusedRetry
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.Clock.After(pause):
		}
	}
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	everywhere := false
	if err := mgr.Add(manager.RunnableFunc(r.sweepForever)); err != nil {
		return fmt.Errorf("add the sweep of policy copies: %w", err)
	}
	ours := predicate.NewPredicateFuncs(func(o client.Object) bool {
		return labelled(o) && (o.GetNamespace() == r.Namespace || slices.Contains(r.Plugins, o.GetNamespace()))
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

func labelled(o client.Object) bool { return o.GetLabels()[karpv1.LabelPolicy] == "true" }

// Await returns when every policy that exists has been loaded, has been restored from
// its copy, or has no version that loads.
func (r *Reconciler) Await(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, awaitPoll, true, func(ctx context.Context) (bool, error) {
		policies, err := r.all(ctx)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "policies cannot be listed yet")
			return false, nil
		}
		return !slices.ContainsFunc(policies, func(cm corev1.ConfigMap) bool {
			_, settled := r.settled.Load(load.Key{Namespace: cm.Namespace, Name: cm.Name})
			return !settled
		}), nil
	})
}

// Reconcile loads the policy in one ConfigMap, or unloads it when the ConfigMap is
// gone. Every call compares what is with what has to be, so that a call that failed
// halfway is completed by the next.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cm := &corev1.ConfigMap{}
	err := r.Client.Get(ctx, req.NamespacedName, cm)
	key := load.Key{Namespace: req.Namespace, Name: req.Name}
	if apierrors.IsNotFound(err) {
		changed, err := r.Loader.Delete(ctx, key)
		r.settled.Delete(key)
		r.Revisions.forget(key)
		if changed {
			ctrl.LoggerFrom(ctx).Info("policy is gone")
			r.Changed()
		}
		return reconcile.Result{}, errors.Join(err, r.forget(ctx, key))
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read policy %s: %w", req, err)
	}
	left := r.suspend(ctx, cm)
	again, err := r.load(ctx, cm)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.settled.Store(key, true)
	if left > 0 && (again == 0 || left < again) {
		again = left
	}
	return reconcile.Result{RequeueAfter: again}, r.keep(ctx, key)
}

// load brings the policy into force, or the last good version when the policy is
// rejected. again is after how long it has to be loaded again, 0 for not before its
// ConfigMap changes.
func (r *Reconciler) load(ctx context.Context, cm *corev1.ConfigMap) (again time.Duration, err error) {
	log := ctrl.LoggerFrom(ctx)
	defer r.Revisions.count(r.Loader, cm)
	changed, err := r.Loader.Apply(ctx, cm)
	switch {
	case changed:
		log.Info("policy in force")
		r.tell(cm, corev1.EventTypeNormal, karpv1.EventPolicyActive, "the policy is in force")
		r.Changed()
		return 0, err
	case err != nil:
		log.Error(err, "policy rejected")
		r.tell(cm, corev1.EventTypeWarning, karpv1.EventPolicyRejected, err.Error())
		r.Changed()
		// Only a change by the author helps, and that causes an event. A time limit
		// that was exceeded may hold the next time.
		if load.Transient(err) {
			again = retry
		}
	}
	// A revision is rejected with an error only once. What is in force says whether the
	// copy still has to be restored.
	later, err := r.restore(ctx, cm)
	return cmp.Or(again, later), err
}

// suspend obeys the annotation that suspends the policy, and returns how long that
// lasts still, 0 when the policy is not suspended.
func (r *Reconciler) suspend(ctx context.Context, cm *corev1.ConfigMap) time.Duration {
	now := r.Clock.Now()
	until, err := load.Suspension(cm, now)
	if err != nil {
		r.tell(cm, corev1.EventTypeWarning, karpv1.EventPolicyNotSuspended, err.Error())
	}
	if r.Loader.Suspend(load.Key{Namespace: cm.Namespace, Name: cm.Name}, until) {
		if until.IsZero() {
			ctrl.LoggerFrom(ctx).Info("the suspension of a policy has ended")
			r.tell(cm, corev1.EventTypeNormal, karpv1.EventPolicyResumed, "the policy is no longer suspended")
		} else {
			ctrl.LoggerFrom(ctx).Info("policy suspended", "until", until)
			r.tell(cm, corev1.EventTypeWarning, karpv1.EventPolicySuspended, "the policy is not asked until "+until.Format(time.RFC3339))
		}
		r.Changed()
	}
	if until.IsZero() {
		return 0
	}
	return until.Sub(now)
}

func (r *Reconciler) tell(cm *corev1.ConfigMap, kind, reason, text string) {
	if r.Leading() {
		r.Events.Eventf(cm, nil, kind, reason, "Load", "%s", text)
	}
}
