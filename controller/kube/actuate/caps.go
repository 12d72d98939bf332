package actuate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
)

// TellCaps sends an event on a policy for each of its caps that leaves nothing, or too
// little for pods that wait. The event is sent once, until the cap leaves enough again.
// A soft cap does not stop launches: the event is its only effect.
func (r *Reporter) TellCaps(ctx context.Context, d *decide.Decision) {
	for i := range d.Headroom {
		h := &d.Headroom[i]
		text := ""
		if h.Left == 0 || h.Short {
			text = capReached(h)
		}
		key := types.UID("cap/" + h.Policy + "/" + h.Scope + "/" + string(h.Period))
		if !r.isNew(key, text) || text == "" {
			continue
		}
		cm := &corev1.ConfigMap{}
		if err := r.Client.Get(ctx, types.NamespacedName{Namespace: r.Namespace, Name: h.Policy}, cm); err != nil {
			continue // the policy has been deleted, and its cap with it
		}
		kind := corev1.EventTypeNormal
		if h.Soft {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(cm, nil, kind, karpv1.EventCapReached, "Spend", "%s", text)
	}
}

func capReached(h *decide.CapStatus) string {
	if h.Soft {
		return "soft cap of " + h.Cap + " on " + h.Scope + " is reached: launches go on"
	}
	if h.Left > 0 {
		return "cap of " + h.Cap + " on " + h.Scope + " leaves too little: pods that need new nodes wait"
	}
	return "cap of " + h.Cap + " on " + h.Scope + " leaves nothing: pods that need new nodes wait"
}
