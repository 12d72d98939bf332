package actuate

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
)

// TellWarnings sends an event for each warning of a snapshot that has a reason: a node
// that is not what its labels say, or whose price nobody knows. While that lasts, the
// event is sent again every hour.
func (r *Reporter) TellWarnings(ctx context.Context, now time.Time, warnings []lower.Warning) {
	for i := range warnings {
		w := &warnings[i]
		kind, name, _ := strings.Cut(w.Object, " ")
		if w.Reason == "" || !r.shouldSend(eventKey{kind, name, w.Reason}, w.Message, now) {
			continue
		}
		var about client.Object = &corev1.Node{}
		if kind == "NodeClaim" {
			about = &karpv1.NodeClaim{}
		}
		if err := r.Client.Get(ctx, types.NamespacedName{Name: name}, about); err == nil {
			r.Unmerged.Eventf(about, nil, corev1.EventTypeWarning, w.Reason, "Count", "%s", w.Message)
		}
	}
}
