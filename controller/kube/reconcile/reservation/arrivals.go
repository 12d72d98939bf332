package reservation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/places"
	"spokeshave.dev/controller/kube/reconcile/index"
)

// Arrivals lets a pod that was announced onto a node on which a place was planned for it, as
// soon as the pod exists: it adds the toleration of the node's reservation to it. The next
// decision finds by the toleration, or by the node when the pod is bound, which place the pod
// has taken, and writes it on the claim.
// Its requests carry names of pods.
type Arrivals struct {
	*Reservations
	// Places are shared with the decision loop, which gives pods such places as well.
	Places *places.Book

	mu sync.Mutex
	// taken are the pods that have taken an announced place of a claim and that the claim
	// does not name yet, by the claim's UID.
	taken map[types.UID]map[types.NamespacedName]place
	// pruned is when places were forgotten last.
	pruned time.Time
}

// place is an announced place that a pod has taken.
type place struct {
	owner string
	at    time.Time
}

// forgetAfter is for how long a place counts as taken that no claim shows as taken: the
// decision loop writes it within seconds, while it runs.
const forgetAfter = 2 * time.Minute

// arrivalWorkers is how many pods are given their place at once.
const arrivalWorkers = 32

// SetupWithManager registers the controller. Pods are looked at once, when they come.
func (a *Arrivals) SetupWithManager(mgr ctrl.Manager) error {
	never := func(event.UpdateEvent) bool { return false }
	return ctrl.NewControllerManagedBy(mgr).
		Named("pod.announced").
		For(&corev1.Pod{}, builder.WithPredicates(predicate.Funcs{
			CreateFunc: func(e event.CreateEvent) bool {
				pod, ok := e.Object.(*corev1.Pod)
				return ok && lower.IsWaiting(pod, false) && lower.OwnerKey(pod) != ""
			},
			UpdateFunc: never,
			DeleteFunc: func(event.DeleteEvent) bool { return false },
		})).
		WithOptions(controller.Options{MaxConcurrentReconciles: arrivalWorkers}).
		Complete(a)
}

// Reconcile gives the pod the toleration of one of the claims on which a place is planned
// for a pod of its owner. A pod for which there is none waits for a decision.
func (a *Arrivals) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	pod, err := a.unbound(ctx, req.String())
	if err != nil || pod == nil || hasPlace(pod) {
		return reconcile.Result{}, err
	}
	var claims karpv1.NodeClaimList
	if err := a.client.List(ctx, &claims, client.MatchingFields{index.Planned: req.String()}); err != nil {
		return reconcile.Result{}, fmt.Errorf("find the claim of planned pod %s: %w", req, err)
	}
	if len(claims.Items) > 0 {
		return reconcile.Result{}, nil // it has a place of its own
	}
	owner := lower.OwnerKey(pod)
	if err := a.client.List(ctx, &claims, client.MatchingFields{index.Announced: owner}); err != nil {
		return reconcile.Result{}, fmt.Errorf("find places for pods of %s: %w", owner, err)
	}
	slices.SortFunc(claims.Items, readyFirst)
	for i := range claims.Items {
		if claim := &claims.Items[i]; a.take(claim, owner, req.NamespacedName) {
			a.addToleration(ctx, pod, claim.UID)
			return reconcile.Result{}, nil
		}
	}
	return reconcile.Result{}, nil
}

// hasPlace says whether the pod tolerates the reservation of some node.
func hasPlace(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == karpv1.TaintKeyReserved })
}

// readyFirst orders claims: those whose nodes take pods, those that have an instance, the
// others, each by name.
func readyFirst(x, y karpv1.NodeClaim) int {
	stage := func(c *karpv1.NodeClaim) int {
		switch {
		case condition.IsTrue(c.Status.Conditions, karpv1.ConditionInitialized):
			return 0
		case c.Status.ProviderID != "":
			return 1
		default:
			return 2
		}
	}
	return cmp.Or(cmp.Compare(stage(&x), stage(&y)), cmp.Compare(x.Name, y.Name))
}

// take takes a place of the claim for a pod of the owner. It returns false when there is
// none left, when the claim has no instance yet, when it goes, and when its node has been
// initialized for so long that no reservation is left: the places are then out of date.
func (a *Arrivals) take(claim *karpv1.NodeClaim, owner string, pod types.NamespacedName) bool {
	if claim.Status.ProviderID == "" || !claim.DeletionTimestamp.IsZero() {
		return false
	}
	ready := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionInitialized)
	if ready != nil && ready.Status == metav1.ConditionTrue && a.clock.Since(ready.LastTransitionTime.Time) >= maxDuration {
		return false
	}
	planned, err := plannedPods(claim)
	if err != nil {
		return false
	}
	now := a.clock.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prune(now)
	taken := a.taken[claim.UID]
	for _, key := range planned {
		namespace, name, _ := strings.Cut(key, "/")
		delete(taken, types.NamespacedName{Namespace: namespace, Name: name})
	}
	of := 0
	for _, p := range taken {
		if p.owner == owner {
			of++
		}
	}
	if of >= lower.AnnouncedPods(claim)[owner] || !a.Places.Take(pod.String(), claim.Name) {
		return false
	}
	if taken == nil {
		taken = map[types.NamespacedName]place{}
		a.taken[claim.UID] = taken
	}
	taken[pod] = place{owner, now}
	return true
}

// prune forgets places that were taken long ago. The caller holds the lock.
func (a *Arrivals) prune(now time.Time) {
	if a.taken == nil {
		a.taken = map[types.UID]map[types.NamespacedName]place{}
	}
	if now.Sub(a.pruned) < forgetAfter {
		return
	}
	a.pruned = now
	for claim, taken := range a.taken {
		maps.DeleteFunc(taken, func(_ types.NamespacedName, p place) bool { return now.Sub(p.at) >= forgetAfter })
		if len(taken) == 0 {
			delete(a.taken, claim)
		}
	}
}
