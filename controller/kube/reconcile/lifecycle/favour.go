package lifecycle

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

const (
	// tolerations is how many pods of a claim are written at once.
	tolerations = 16
	// tolerationsAtOnce is how many of all claims. With it each has its turn at the
	// client's 200 requests a second soon enough for [favour].
	tolerationsAtOnce = 128
	// favour is how long the API server, and the webhooks behind it, may take to
	// give a pod its toleration.
	favour = 5 * time.Second
)

// favours keeps book of the tolerations that pods are being given: beside the
// claim's reconciliation, which an admission webhook that takes its time would
// hold up.
type favours struct {
	mu sync.Mutex
	// busy are the claims whose pods are being written.
	busy map[types.UID]bool
	// refused is when pods were refused the toleration, by their UIDs. They are not
	// asked again, and not waited for.
	refused map[types.UID]time.Time
	turns   chan struct{}
}

// ask gives the pods the toleration of the claim's reservation, in the background.
// While some of a claim are being written, no more are: they are asked for again.
func (r *Reconciler) ask(ctx context.Context, claim types.UID, pods []*corev1.Pod) {
	f := &r.favours
	if len(pods) == 0 || !f.begin(claim) {
		return
	}
	go func() {
		defer f.end(claim)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reservationMost)
		defer cancel()
		var work errgroup.Group
		work.SetLimit(tolerations)
		for _, pod := range pods {
			work.Go(func() error {
				select {
				case f.turns <- struct{}{}:
					defer func() { <-f.turns }()
					r.tolerate(ctx, pod, claim)
				case <-ctx.Done():
				}
				return nil
			})
		}
		_ = work.Wait() // nothing in there fails
	}()
}

// tolerate makes a pod tolerate the claim's reservation. It is a favour: a pod for
// which the API server or an admission webhook refuses it, or does not answer, goes
// without.
func (r *Reconciler) tolerate(ctx context.Context, pod *corev1.Pod, claim types.UID) {
	key := client.ObjectKeyFromObject(pod)
	if now, err := r.unbound(ctx, key.String()); err != nil || now == nil || now.UID != pod.UID {
		return // it waits no more
	}
	ctx, cancel := context.WithTimeout(ctx, favour)
	defer cancel()
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"spec":     map[string]any{"tolerations": append(slices.Clone(pod.Spec.Tolerations), karpv1.ReservedToleration(claim))},
	})
	if err == nil {
		err = r.Client.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
	}
	// Not found and conflict are the answers for a pod that went or was changed
	// since it was read.
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		r.favours.refuse(pod.UID, r.Clock.Now())
		logr.FromContextOrDiscard(ctx).Info("no node is kept for a planned pod", "pod", key.String(), "refused", err.Error())
	}
}

func (f *favours) begin(claim types.UID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy[claim] {
		return false
	}
	if f.busy == nil {
		f.busy, f.turns = map[types.UID]bool{}, make(chan struct{}, tolerationsAtOnce)
	}
	f.busy[claim] = true
	return true
}

func (f *favours) end(claim types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, claim)
}

func (f *favours) refuse(pod types.UID, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refused == nil {
		f.refused = map[types.UID]time.Time{}
	}
	f.refused[pod] = now
}

func (f *favours) denied(pod types.UID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, refused := f.refused[pod]
	return refused
}

// forget drops refusals that no reservation asks about any more.
func (f *favours) forget(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for pod, at := range f.refused {
		if now.Sub(at) > 2*reservationMost {
			delete(f.refused, pod)
		}
	}
}
