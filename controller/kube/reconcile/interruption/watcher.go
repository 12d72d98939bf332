// Package interruption acts on events of the cloud about instances: one is reclaimed,
// stopped, about to be changed, or broken. It deletes the node's claim. From then on
// every decision plans the node's pods anew, so that their new nodes start while the
// old one is drained (reconcile/termination).
//
// provider/aws receives the events, and keeps offerings that were lost out of the
// catalogue for a while.
package interruption

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/reconcile/forceful"
	"spokeshave.dev/controller/kube/reconcile/index"
)

// margin is subtracted from the time that an instance has left: the notice is rounded,
// and EC2 keeps to it only approximately.
const margin = 10 * time.Second

// Watcher listens for events and polls for troubled instances. It runs on the leader
// only.
type Watcher struct {
	Client  client.Client
	Source  provider.Announcer
	Events  events.EventRecorder
	Deleter *forceful.Deleter
	Clock   clock.WithTicker
	// Metrics may be nil.
	Metrics *Metrics
	// Rebalance says to drain nodes on a rebalance recommendation too.
	Rebalance bool
	// Every is how often to poll for troubled instances.
	Every time.Duration
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (w *Watcher) NeedLeaderElection() bool { return true }

// Start runs until the context ends.
func (w *Watcher) Start(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { w.Source.ListenForEvents(ctx, w.Handle) })
	both.Go(func() { w.pollLoop(ctx) })
	both.Wait()
	return nil
}

func (w *Watcher) pollLoop(ctx context.Context) {
	ticker := w.Clock.NewTicker(w.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			if err := w.Poll(ctx); err != nil {
				logr.FromContextOrDiscard(ctx).Error(err, "instances in trouble are asked for again")
			}
		}
	}
}

// Poll polls once for troubled instances and handles each of them.
func (w *Watcher) Poll(ctx context.Context) error {
	found, err := w.Source.Troubled(ctx)
	if err != nil {
		return fmt.Errorf("ask for instances in trouble: %w", err)
	}
	for _, e := range found {
		if err := w.Handle(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// Handle acts on one event. It ignores events about instances without a claim. For a
// claim that is being deleted already it only updates the deadline.
func (w *Watcher) Handle(ctx context.Context, e provider.Event) error {
	say, ok := reasonFor(e.Kind)
	if !ok || e.InstanceID == "" {
		return nil
	}
	var claims karpv1.NodeClaimList
	if err := w.Client.List(ctx, &claims, client.MatchingFields{index.Instance: e.InstanceID}); err != nil {
		return fmt.Errorf("find claim of instance %s: %w", e.InstanceID, err)
	}
	for i := range claims.Items {
		if err := w.claim(ctx, &claims.Items[i], e, say); err != nil {
			return err
		}
	}
	return nil
}

func (w *Watcher) claim(ctx context.Context, claim *karpv1.NodeClaim, e provider.Event, say disruptionReason) error {
	acts := e.Kind.Drains() || e.Kind.Forceful() || e.Kind == provider.RebalanceRecommend && w.Rebalance
	fresh := claim.DeletionTimestamp.IsZero()
	node := w.node(ctx, claim)
	if fresh {
		w.tell(claim, node, say.event, say.message)
		w.Metrics.unhealthy(e.Kind)
	}
	if !acts {
		return nil
	}
	began, err := w.Deleter.Delete(ctx, claim, forceful.Cause{
		Reason: say.condition, MetricReason: string(e.Kind), Message: say.message, Deadline: w.deadline(&e), Notice: say.notice,
	})
	if err != nil {
		return fmt.Errorf("act on %s of instance %s: %w", e.Kind, e.InstanceID, err)
	}
	if began {
		w.tell(claim, node, awsv1.EventTerminatingOnInterruption, "the node is drained and replaced: "+say.message)
	}
	return nil
}

// deadline returns when the node has to be gone, zero when there is no such time.
func (w *Watcher) deadline(e *provider.Event) time.Time {
	now := w.Clock.Now()
	switch {
	case e.Kind.Forceful():
		return now
	case e.Deadline.IsZero():
		return time.Time{}
	case e.Kind != provider.SpotInterrupted && e.Kind != provider.ReservationReclaims && e.Kind != provider.ReservationEnds:
		return time.Time{}
	}
	if at := e.Deadline.Add(-margin); at.After(now) {
		return at
	}
	return now
}

// node returns the claim's node as the object of events, nil when it has none.
func (w *Watcher) node(ctx context.Context, claim *karpv1.NodeClaim) *corev1.Node {
	if claim.Status.NodeName == "" {
		return nil
	}
	node := &corev1.Node{}
	if err := w.Client.Get(ctx, types.NamespacedName{Name: claim.Status.NodeName}, node); err != nil {
		return nil
	}
	return node
}

func (w *Watcher) tell(claim *karpv1.NodeClaim, node *corev1.Node, reason, text string) {
	w.Events.Eventf(claim, nil, corev1.EventTypeWarning, reason, "Interrupt", "%s", text)
	if node != nil {
		w.Events.Eventf(node, nil, corev1.EventTypeWarning, reason, "Interrupt", "%s", text)
	}
}
