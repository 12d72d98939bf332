package reservation

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// StaleReporter writes a warning event for each node whose reservation has outlasted
// every limit. It runs in a controller in mode Observe, which may not write nodes: a
// controller that ran before it may have been stopped without its permissions, and so
// have left nodes reserved.
type StaleReporter struct {
	Client client.Client
	Events events.EventRecorder
	Clock  clock.WithTicker

	// before are the reservations of the last look, by node.
	before map[string]corev1.Taint
}

// Start implements manager.Runnable. It returns when the context ends.
func (l *StaleReporter) Start(ctx context.Context) error {
	tick := l.Clock.NewTicker(3 * maxDuration)
	defer tick.Stop()
	for {
		l.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C():
		}
	}
}

// look reports the nodes that have the same reservation as at the last look: no
// reservation lasts as long.
func (l *StaleReporter) look(ctx context.Context) {
	var nodes corev1.NodeList
	if err := l.Client.List(ctx, &nodes); err != nil {
		return // the next look comes
	}
	now := map[string]corev1.Taint{}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		at := slices.IndexFunc(n.Spec.Taints, IsTaint)
		if at < 0 {
			continue
		}
		now[n.Name] = n.Spec.Taints[at]
		if last, known := l.before[n.Name]; known && last.Value == n.Spec.Taints[at].Value {
			l.Events.Eventf(n, nil, corev1.EventTypeWarning, karpv1.EventReservationLeft, "Observe",
				"the node is still reserved for pods of a plan, by a controller that acts no more; open it with kubectl taint nodes %s %s-", n.Name, karpv1.TaintKeyReserved)
		}
	}
	l.before = now
}
