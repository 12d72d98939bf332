package reservation

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
	// writersPerClaim is how many pods of one claim are written at the same time.
	writersPerClaim = 16
	// writersInAll is how many pods of all claims are written at the same time. The
	// client sends 200 requests a second: each write gets its turn within [writeTimeout].
	writersInAll = 128
	// writeTimeout is how long the API server, and the admission webhooks behind it, may
	// take to add a toleration to a pod.
	writeTimeout = 5 * time.Second
)

// tolerationWriter records which pods are being given the toleration of a reservation.
// The pods are written in the background, because a slow admission webhook would
// otherwise hold up the reconciliation of the claim. The zero value is ready.
type tolerationWriter struct {
	mu sync.Mutex
	// busy are the claims whose pods are being written.
	busy map[types.UID]bool
	// refused is when a pod was refused the toleration, by its UID. Such a pod is not
	// written again, and no node is kept for it.
	refused map[types.UID]time.Time
	// slots holds one element for each write under way.
	slots chan struct{}
}

// addTolerations adds the toleration of the claim's reservation to the pods, in the
// background. It does nothing while other pods of the claim are being written; the next
// reconciliation calls it again.
func (r *Reservations) addTolerations(ctx context.Context, claim types.UID, pods []*corev1.Pod) {
	w := &r.writer
	if len(pods) == 0 || !w.begin(claim) {
		return
	}
	go func() {
		defer w.end(claim)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxDuration)
		defer cancel()
		var work errgroup.Group
		work.SetLimit(writersPerClaim)
		for _, pod := range pods {
			work.Go(func() error {
				select {
				case w.slots <- struct{}{}:
					defer func() { <-w.slots }()
					r.addToleration(ctx, pod, claim)
				case <-ctx.Done():
				}
				return nil
			})
		}
		_ = work.Wait() // nothing in there fails
	}()
}

// addToleration adds the toleration of the claim's reservation to a pod. A pod for which
// the API server or an admission webhook refuses that, or does not answer in time, does
// without, and is recorded as refused.
func (r *Reservations) addToleration(ctx context.Context, pod *corev1.Pod, claim types.UID) {
	key := client.ObjectKeyFromObject(pod)
	own := karpv1.ReservedToleration(claim)
	now, err := r.unbound(ctx, key.String())
	if err != nil || now == nil || now.UID != pod.UID || slices.Contains(now.Spec.Tolerations, own) {
		return // it waits no more, or another writer was faster
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"spec":     map[string]any{"tolerations": append(slices.Clone(now.Spec.Tolerations), own)},
	})
	if err == nil {
		err = r.client.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
	}
	// Not found and conflict are the answers for a pod that went or was changed
	// since it was read. One that was bound since may not be changed any more.
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && r.stillLacks(ctx, now) {
		r.writer.refuse(pod.UID, r.clock.Now())
		logr.FromContextOrDiscard(ctx).Info("no node is kept for a planned pod", "pod", key.String(), "refused", err.Error())
	}
}

// stillLacks says whether the pod waits for a node and has the tolerations that it had, as
// the watch cache shows it after a moment. A pod that has other ones is not refused: the write
// would have taken them away. It is written again with the next reconciliation.
func (r *Reservations) stillLacks(ctx context.Context, pod *corev1.Pod) bool {
	select {
	case <-ctx.Done():
	case <-r.clock.After(pollInterval):
	}
	now, err := r.unbound(context.WithoutCancel(ctx), client.ObjectKeyFromObject(pod).String())
	return err == nil && now != nil && now.UID == pod.UID && len(now.Spec.Tolerations) == len(pod.Spec.Tolerations)
}

func (w *tolerationWriter) begin(claim types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy[claim] {
		return false
	}
	if w.busy == nil {
		w.busy, w.slots = map[types.UID]bool{}, make(chan struct{}, writersInAll)
	}
	w.busy[claim] = true
	return true
}

func (w *tolerationWriter) end(claim types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, claim)
}

func (w *tolerationWriter) refuse(pod types.UID, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused == nil {
		w.refused = map[types.UID]time.Time{}
	}
	w.refused[pod] = now
}

func (w *tolerationWriter) wasRefused(pod types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, refused := w.refused[pod]
	return refused
}

// forget drops refusals that are older than any reservation.
func (w *tolerationWriter) forget(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for pod, at := range w.refused {
		if now.Sub(at) > 2*maxDuration {
			delete(w.refused, pod)
		}
	}
}
