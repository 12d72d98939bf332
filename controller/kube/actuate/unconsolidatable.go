package actuate

import (
	"context"
	"hash/fnv"
	"io"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
)

// repeatAfter is after how long an event about a lasting condition is sent again. The API
// server keeps events for an hour.
const repeatAfter = time.Hour

// minInterval is how long no event with the same reason is sent on an object, even when the
// text differs: texts contain prices, which change all the time.
const minInterval = time.Minute

// maxKeptEvents is for how many nodes one decision sends events that say why they are
// kept. The next decisions send those for the others.
const maxKeptEvents = 100

// eventKey identifies what an event is about: an object, and the event's reason.
type eventKey struct{ kind, name, reason string }

// lastEvent is the last event sent: a hash of its text, to save memory, and its time.
type lastEvent struct {
	sum uint64
	at  time.Time
}

// tellUnconsolidatable sends an event on each node that could be removed but is kept,
// with the reason.
func (r *Reporter) tellUnconsolidatable(ctx context.Context, s *model.Snapshot, d *decide.Decision) {
	r.pruneEvents(s)
	for _, each := range r.keptToReport(s, d) {
		r.tellNode(ctx, &s.Nodes[each.Node], reasonFor(each.Kind), keptReason(each))
	}
}

// keptToReport returns the nodes for which events are sent this time, at most
// maxKeptEvents. Nodes for which no event with the reason was sent yet come first:
// otherwise nodes whose texts change all the time would take every place.
func (r *Reporter) keptToReport(s *model.Snapshot, d *decide.Decision) []*decide.Disruption {
	var out []*decide.Disruption
	for _, known := range []bool{false, true} {
		for i := range d.Disruptions {
			each := &d.Disruptions[i]
			about := eventKey{"Node", s.Nodes[each.Node].Name, reasonFor(each.Kind)}
			if each.Go || about.reason == "" || len(out) == maxKeptEvents || r.wasSent(about) != known {
				continue
			}
			if r.shouldSend(about, keptReason(each), s.Time) {
				out = append(out, each)
			}
		}
	}
	return out
}

// keptReason returns the reason why a node is kept.
func keptReason(each *decide.Disruption) string {
	if each.Policy != "" {
		return "policy " + each.Policy + " keeps the node: " + each.Reason
	}
	return each.Reason
}

// wasSent reports whether an event about the key was sent before.
func (r *Reporter) wasSent(about eventKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.lastEvents[about]
	return known
}

// reasonFor returns the event reason for a kind of disruption decision, "" for no event
// on the node.
func reasonFor(k disrupt.Kind) string {
	switch k {
	case disrupt.Blocked:
		return karpv1.EventDisruptionBlocked
	case disrupt.NoSaving:
		return karpv1.EventUnconsolidatable
	case disrupt.SavingTooSmall:
		return karpv1.EventConsolidationRejected
	case disrupt.Waiting, disrupt.OverBudget: // TellPools reports it on the NodePool
	}
	return ""
}

// tellNode sends an event about a node to its Node and its NodeClaim.
func (r *Reporter) tellNode(ctx context.Context, n *model.Node, reason, text string) {
	node, claim := &corev1.Node{}, &karpv1.NodeClaim{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: n.Name}, node); err == nil {
		r.Unmerged.Eventf(node, nil, corev1.EventTypeNormal, reason, "Disrupt", "%s", text)
	}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: n.Claim}, claim); err == nil {
		r.Unmerged.Eventf(claim, nil, corev1.EventTypeNormal, reason, "Disrupt", "%s", text)
	}
}

// TellPools sends events on NodePools for which no instance type meets the
// requirements, or whose disruption budgets keep nodes from being removed. pools are by
// name.
func (r *Reporter) TellPools(s *model.Snapshot, pools map[string]*karpv1.NodePool, d *decide.Decision) {
	tell := func(at int32, kind, reason, text string) {
		pool := pools[s.Pools[at].Name]
		if pool != nil && r.shouldSend(eventKey{"NodePool", pool.Name, reason + text}, text, s.Time) {
			r.Unmerged.Eventf(pool, nil, kind, reason, "Plan", "%s", text)
		}
	}
	for _, at := range d.PoolsWithoutOfferings {
		tell(at, corev1.EventTypeWarning, karpv1.EventNoCompatibleInstanceTypes, "no instance type that its node class offers meets the NodePool's requirements")
	}
	for i := range d.Disruptions {
		if each := &d.Disruptions[i]; each.Kind == disrupt.OverBudget {
			tell(s.Nodes[each.Node].Pool, corev1.EventTypeNormal, karpv1.EventDisruptionBlocked,
				"the disruption budgets let no more nodes go now: "+string(each.Method))
		}
	}
}

// shouldSend reports whether an event with the text should be sent now, and if so, records
// it as sent.
func (r *Reporter) shouldSend(about eventKey, text string, now time.Time) bool {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, text) // writing to a hash never fails
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.lastEvents[about]
	since := now.Sub(last.at)
	if known && (since < minInterval || last.sum == sum.Sum64() && since < repeatAfter) {
		return false
	}
	if r.lastEvents == nil {
		r.lastEvents = map[eventKey]lastEvent{}
	}
	r.lastEvents[about] = lastEvent{sum.Sum64(), now}
	return true
}

// pruneEvents drops events that are not asked for any more, once many are recorded: those
// about nodes that are gone, and those older than repeatAfter, which would be sent again
// anyway.
func (r *Reporter) pruneEvents(s *model.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lastEvents) < 3*(len(s.Nodes)+len(s.Pools))+100 {
		return
	}
	nodes := make(map[string]bool, len(s.Nodes))
	for i := range s.Nodes {
		nodes[s.Nodes[i].Name] = true
	}
	maps.DeleteFunc(r.lastEvents, func(about eventKey, last lastEvent) bool {
		return s.Time.Sub(last.at) >= repeatAfter || about.kind == "Node" && !nodes[about.name]
	})
}
