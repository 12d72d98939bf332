package oracle

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/events"
)

// notes keeps, of the events that Karpenter would publish, why it does not remove a node:
// the first message for each. Others are dropped.
type notes struct {
	mu   sync.Mutex
	kept map[string]string
}

// Publish implements events.Recorder.
func (n *notes) Publish(list ...events.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range list {
		node, ok := list[i].InvolvedObject.(*corev1.Node)
		if !ok || list[i].Reason != events.Unconsolidatable && list[i].Reason != events.DisruptionBlocked {
			continue
		}
		if n.kept == nil {
			n.kept = map[string]string{}
		}
		if n.kept[node.Name] == "" {
			n.kept[node.Name] = list[i].Message
		}
	}
}
