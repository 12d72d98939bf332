package actuate

import (
	"context"
	"hash/fnv"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
)

// Conditions that last are told of once, and again when the API server has
// forgotten the event: it keeps events for an hour.
const again = time.Hour

// pause is how long an object is not told of the same reason again in other
// words: a price moves all the time.
const pause = time.Minute

// staysAtOnce is how many nodes a decision tells why they stay. Those that it
// does not come to have their turn in the next ones.
const staysAtOnce = 100

// eventKey is what somebody was told about: an object, and the event's reason.
type eventKey struct{ kind, name, reason string }

// lastEvent is what was told: a hash, so that ten thousand texts are not kept.
type lastEvent struct {
	sum uint64
	at  time.Time
}

// tellUnconsolidatable tells the nodes that could go why they do not, and their NodePools when
// it is for the budgets.
func (a *Actuator) tellUnconsolidatable(ctx context.Context, s *model.Snapshot, d *decide.Decision) {
	a.fade(s)
	for _, each := range a.due(s, d) {
		a.tellNode(ctx, &s.Nodes[each.Node], reasonFor(each.Kind), why(each))
	}
}

// due lists whom to tell this time: first those that have not heard the reason
// yet, or the words of the others, which may change all the time, would leave them
// out for ever.
func (a *Actuator) due(s *model.Snapshot, d *decide.Decision) []*decide.Disruption {
	var out []*decide.Disruption
	for _, known := range []bool{false, true} {
		for i := range d.Disruptions {
			each := &d.Disruptions[i]
			about := eventKey{"Node", s.Nodes[each.Node].Name, reasonFor(each.Kind)}
			if each.Go || about.reason == "" || len(out) == staysAtOnce || a.knows(about) != known {
				continue
			}
			if a.fresh(about, why(each), s.Time) {
				out = append(out, each)
			}
		}
	}
	return out
}

// why is what keeps a node.
func why(each *decide.Disruption) string {
	if each.Policy != "" {
		return "policy " + each.Policy + " keeps the node: " + each.Reason
	}
	return each.Reason
}

// knows says whether somebody was told about a topic before.
func (a *Actuator) knows(about eventKey) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, known := a.lastEvents[about]
	return known
}

// reasonFor is the event by which a node hears what keeps it, empty for none.
func reasonFor(k disrupt.Kind) string {
	switch k {
	case disrupt.Forbidden:
		return karpv1.EventDisruptionBlocked
	case disrupt.Pointless:
		return karpv1.EventUnconsolidatable
	case disrupt.Unworthy:
		return karpv1.EventConsolidationRejected
	case disrupt.Waits, disrupt.OverBudget: // that is news for the NodePool
	}
	return ""
}

// tellNode sends an event about a node to its Node and its NodeClaim.
func (a *Actuator) tellNode(ctx context.Context, n *model.Node, reason, text string) {
	node, claim := &corev1.Node{}, &karpv1.NodeClaim{}
	if err := a.Client.Get(ctx, types.NamespacedName{Name: n.Name}, node); err == nil {
		a.Once.Eventf(node, nil, corev1.EventTypeNormal, reason, "Disrupt", "%s", text)
	}
	if err := a.Client.Get(ctx, types.NamespacedName{Name: n.Claim}, claim); err == nil {
		a.Once.Eventf(claim, nil, corev1.EventTypeNormal, reason, "Disrupt", "%s", text)
	}
}

// TellPools tells NodePools that none of the instance types meets their
// requirements, and that their budgets keep nodes from going. pools are by name.
func (a *Actuator) TellPools(s *model.Snapshot, pools map[string]*karpv1.NodePool, d *decide.Decision) {
	tell := func(at int32, kind, reason, text string) {
		pool := pools[s.Pools[at].Name]
		if pool != nil && a.fresh(eventKey{"NodePool", pool.Name, reason + text}, text, s.Time) {
			a.Once.Eventf(pool, nil, kind, reason, "Plan", "%s", text)
		}
	}
	for _, at := range d.Barren {
		tell(at, corev1.EventTypeWarning, karpv1.EventNoCompatibleInstanceTypes, "no instance type that its node class offers meets the NodePool's requirements")
	}
	for i := range d.Disruptions {
		if each := &d.Disruptions[i]; each.Kind == disrupt.OverBudget {
			tell(s.Nodes[each.Node].Pool, corev1.EventTypeNormal, karpv1.EventDisruptionBlocked,
				"the disruption budgets let no more nodes go now: "+string(each.Method))
		}
	}
}

// fresh says whether a text is worth telling, and takes it for told.
func (a *Actuator) fresh(about eventKey, text string, now time.Time) bool {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, text) // a hash takes everything
	a.mu.Lock()
	defer a.mu.Unlock()
	last, known := a.lastEvents[about]
	since := now.Sub(last.at)
	if known && (since < pause || last.sum == sum.Sum64() && since < again) {
		return false
	}
	if a.lastEvents == nil {
		a.lastEvents = map[eventKey]lastEvent{}
	}
	a.lastEvents[about] = lastEvent{sum.Sum64(), now}
	return true
}

// fade forgets what would be told again, once there is much of it.
func (a *Actuator) fade(s *model.Snapshot) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.lastEvents) < 3*(len(s.Nodes)+len(s.Pools))+100 {
		return
	}
	for about, last := range a.lastEvents {
		if s.Time.Sub(last.at) >= again {
			delete(a.lastEvents, about)
		}
	}
}
