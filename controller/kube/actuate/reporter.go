package actuate

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// Reporter sends Kubernetes events about decisions. It sends an event again only when its
// text has changed, or after a while.
//
// Size: one method for each kind of object that a decision is told on.
type Reporter struct {
	// Client reads the objects that events are about.
	Client client.Client
	Events events.EventRecorder
	// Unmerged records events that go to many objects at the same time and are sent once
	// each: pods that are planned onto new nodes, nodes that are kept.
	Unmerged events.EventRecorder
	// Namespace is the controller's own, where ceiling policies live.
	Namespace string

	mu sync.Mutex
	// lastTexts holds the last event text of each object, so that an event is sent
	// again only when its text changes.
	lastTexts map[types.UID]string
	// lastEvents does the same for conditions that last; their events are sent again
	// after a while.
	lastEvents map[eventKey]lastEvent
}

// tellNominated sends an event on each pod of a planned node that names the node's claim.
func (r *Reporter) tellNominated(s *model.Snapshot, claim *karpv1.NodeClaim, n *model.PlannedNode) {
	best := n.Options[0]
	for _, i := range n.Pods {
		if s.Pods[i].Announced != "" || s.Specs[s.Pods[i].Spec].HoldsPlace() {
			continue
		}
		what := "should run"
		if from := s.Pods[i].Node; from >= 0 {
			what = "finds room, when node " + s.Nodes[from].Name + " goes,"
		}
		r.Unmerged.Eventf(podRef(&s.Pods[i]), claim, corev1.EventTypeNormal, karpv1.EventNominated, "Launch",
			"%s on nodeclaim/%s: %s, %s, %s at %s $/h", what, claim.Name, best.InstanceType, best.Zone, best.CapacityType, best.Price)
	}
}

// tellTerminating sends events on a claim that was deleted and on its node.
func (r *Reporter) tellTerminating(ctx context.Context, n *model.Node, claim *karpv1.NodeClaim, why *decide.Disruption) {
	about := []client.Object{claim}
	node := &corev1.Node{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: n.Name}, node); err == nil {
		about = append(about, node)
	}
	for _, o := range about {
		r.Events.Eventf(o, nil, corev1.EventTypeNormal, karpv1.EventDisruptionTerminating, "Disrupt",
			"disrupting node %s: %s, it cost %s $/h", n.Name, why.Method, n.Cost())
	}
}
