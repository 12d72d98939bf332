package lifecycle

import (
	"context"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// leaving is how long a controller that stops may take to end reservations.
const leaving = 5 * time.Second

// Leaver ends all reservations when the controller stops: it may never come back,
// and nothing else opens a node that is reserved. Where it does come back, others
// may take the room that the planned pods have not taken by then.
type Leaver struct {
	Client client.Client
	Clock  clock.Clock
}

// Start implements manager.Runnable: it waits for the controller's end.
func (l *Leaver) Start(ctx context.Context) error {
	<-ctx.Done()
	log := logr.FromContextOrDiscard(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	for _, name := range l.open(ctx) {
		log.Info("a node stays reserved; open it with kubectl taint nodes "+name+" "+karpv1.TaintKeyReserved+"-", "node", name)
	}
	return nil
}

// open returns the names of the nodes that it could not open. It waits before each
// look, for reconciliations that were at work may write nodes still; and a
// controller that has lost its lease, and with it the right to write, ends meanwhile.
func (l *Leaver) open(ctx context.Context) []string {
	var left []string
	for range 3 {
		select {
		case <-ctx.Done():
			return left
		case <-l.Clock.After(reservationPoll):
		}
		var nodes corev1.NodeList
		if err := l.Client.List(ctx, &nodes); err != nil {
			return left
		}
		left = nil
		for i := range nodes.Items {
			if n := &nodes.Items[i]; slices.ContainsFunc(n.Spec.Taints, isReservation) {
				if err := unreserve(ctx, l.Client, n.DeepCopy()); client.IgnoreNotFound(err) != nil {
					left = append(left, n.Name)
				}
			}
		}
	}
	return left
}
