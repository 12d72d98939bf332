package reservation

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

// releaseTimeout is how long a controller that stops may take to end reservations.
const releaseTimeout = 5 * time.Second

// Releaser ends all reservations when the controller stops, because nothing else opens a
// reserved node if no controller is started again. If one is, other pods may by then
// have taken the capacity that planned pods had not taken.
type Releaser struct {
	Client client.Client
	Clock  clock.Clock
}

// Start implements manager.Runnable. It blocks until ctx ends, then releases the nodes,
// and logs the names of those that stay reserved.
func (l *Releaser) Start(ctx context.Context) error {
	<-ctx.Done()
	log := logr.FromContextOrDiscard(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	for _, name := range l.open(ctx) {
		log.Info("a node stays reserved; open it with kubectl taint nodes "+name+" "+karpv1.TaintKeyReserved+"-", "node", name)
	}
	return nil
}

// open ends the reservations and returns the names of the nodes that it could not open.
// It waits before each of its three attempts: reconciliations that are still running may
// reserve nodes, and a process that has lost its lease, and with it the right to write,
// exits in the meantime.
func (l *Releaser) open(ctx context.Context) []string {
	var left []string
	for range 3 {
		select {
		case <-ctx.Done():
			return left
		case <-l.Clock.After(pollInterval):
		}
		var nodes corev1.NodeList
		if err := l.Client.List(ctx, &nodes); err != nil {
			return left
		}
		left = nil
		for i := range nodes.Items {
			if n := &nodes.Items[i]; slices.ContainsFunc(n.Spec.Taints, IsTaint) {
				if err := unreserve(ctx, l.Client, n.DeepCopy()); client.IgnoreNotFound(err) != nil {
					left = append(left, n.Name)
				}
			}
		}
	}
	return left
}
