package lower

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// bindTimeout is how long a planned pod may stay unbound on an initialized node before it
// counts as pending again.
const bindTimeout = 30 * time.Second

// plannedPods finds the nodes on which pods are planned that are not bound there yet.
type plannedPods struct {
	b *builder
	// forPending and forBound hold, by namespace/name of the pods, the indices of the nodes
	// onto which NodeClaims plan them. forPending covers only nodes on which a planned pod
	// may still land (awaitsPods); it is for pending pods. forBound covers every node that
	// is not being deleted; it is for pods that are still bound to another node.
	forPending, forBound map[string]int32
	// further has, by namespace/name, the other nodes of pending pods that several claims
	// name: a pod that was withdrawn from one node was planned again, onto another.
	further map[string][]int32
	// unbound lists the pods for which room is kept, in the order of the snapshot's pods.
	unbound []plannedPod
}

// plannedPod is a pod for which room is kept on a node.
type plannedPod struct {
	// index is that of the pod in the snapshot.
	index int
	// boundTo is the index of the node to which the pod is bound meanwhile, -1 for a
	// pending pod.
	boundTo int32
	object  *corev1.Pod
	// preempts is set for a pod for which the scheduler ends other pods of the node.
	preempts bool
}

func newPlannedPods(b *builder) *plannedPods {
	p := &plannedPods{b: b, forPending: map[string]int32{}, forBound: map[string]int32{}, further: map[string][]int32{}}
	for i, claim := range b.claims {
		if claim == nil || b.out.Nodes[i].State == model.Deleting {
			continue
		}
		awaits := p.awaitsPods(int32(i))
		for _, key := range PlannedPods(claim) {
			if awaits {
				p.await(key, int32(i))
			}
			p.forBound[key] = int32(i)
		}
	}
	return p
}

// await notes that a pending pod is planned onto a node. Of several nodes, the one that
// accepts pods last is the one that was planned last, as a rule, and is tried first.
func (p *plannedPods) await(key string, node int32) {
	first, again := p.forPending[key]
	switch {
	case !again:
		p.forPending[key] = node
	case p.b.acceptsLater(node, first):
		p.forPending[key], p.further[key] = node, append(p.further[key], first)
	default:
		p.further[key] = append(p.further[key], node)
	}
}

// acceptsLater reports whether node x began to accept pods after y did, or is yet to begin.
func (b *builder) acceptsLater(x, y int32) bool {
	if later := b.hosts(y); later != b.hosts(x) {
		return later
	}
	return b.out.Nodes[x].InitializedAt.After(b.out.Nodes[y].InitializedAt)
}

// awaitsPods reports whether planned pods may still land on the node: it is not
// initialized yet, or it became initialized less than bindTimeout ago.
func (p *plannedPods) awaitsPods(i int32) bool {
	switch p.b.out.Nodes[i].State {
	case model.InFlight, model.Registered:
		return true
	case model.Initialized:
		c := meta.FindStatusCondition(p.b.claims[i].Status.Conditions, karpv1.ConditionInitialized)
		return c != nil && p.b.in.Time.Sub(c.LastTransitionTime.Time) < bindTimeout
	case model.Deleting, model.Unmanaged:
		return false
	}
	return false
}

// nominate returns the index of the node that a pending pod waits for, or -1, and marks
// that node as nominated. The pod is the next that the snapshot gets.
func (p *plannedPods) nominate(pod *corev1.Pod, follow *announced) int32 {
	b := p.b
	at, ok := p.forPending[pod.Namespace+"/"+pod.Name]
	if claim, told := b.in.Planned[string(pod.UID)]; told && !ok {
		at, ok = b.claimAt[claim]
		ok = ok && b.out.Nodes[at].State != model.Deleting
	}
	preempts := false
	if name := pod.Status.NominatedNodeName; name != "" && !ok {
		at, ok = b.nodeAt[name]
		ok = ok && b.out.Nodes[at].State != model.Deleting
		preempts = ok && b.hosts(at)
	}
	if !ok {
		if at = follow.adopt(pod); at < 0 {
			return -1
		}
	}
	b.out.Nodes[at].Nominated = true
	p.unbound = append(p.unbound, plannedPod{index: len(b.out.Pods), boundTo: -1, object: pod, preempts: preempts})
	return at
}

// hosts reports whether pods run on the node already.
func (b *builder) hosts(node int32) bool {
	n := &b.out.Nodes[node]
	return n.State == model.Initialized || n.State == model.Unmanaged
}

// nextNode returns the index of the node where a bound pod counts: from, the node to which
// it is bound, unless that node is being deleted and the pod is planned onto another one.
// The other node was launched for the pod, or room for it was kept on a node in flight.
// The room stays the pod's for as long as the pod exists: the pod that its controller
// creates instead has another name, and by then the room is free. A pod of a StatefulSet
// keeps the room while it ends, for its successor, which has the same name. The pod is the
// next that the snapshot gets.
func (p *plannedPods) nextNode(pod *corev1.Pod, from int32) int32 {
	b := p.b
	if b.out.Nodes[from].State != model.Deleting || b.owners.isDaemon(pod) || !pod.DeletionTimestamp.IsZero() && !isStateful(pod) || isFinal(pod) {
		return from
	}
	to, ok := p.forBound[pod.Namespace+"/"+pod.Name]
	if !ok {
		return from
	}
	b.out.Nodes[to].Nominated = true
	p.unbound = append(p.unbound, plannedPod{index: len(b.out.Pods), boundTo: from, object: pod})
	return to
}

// nodeOfLost returns the index of the node where a pod counts whose own node is gone, if it
// was planned onto another one. A pod that tolerates the taint of nodes that go is not
// evicted: it stays when its node has gone, until the control plane's garbage collection
// deletes it some forty seconds later, and only then is another pod created. Until then it
// keeps the room, and counts for the constraints between pods, as its successor will. The
// pod is the next that the snapshot gets.
func (p *plannedPods) nodeOfLost(pod *corev1.Pod) (int32, bool) {
	to, ok := p.forBound[pod.Namespace+"/"+pod.Name]
	if !ok || p.b.owners.isDaemon(pod) || !pod.DeletionTimestamp.IsZero() || isFinal(pod) {
		return -1, false
	}
	p.b.out.Nodes[to].Nominated = true
	p.unbound = append(p.unbound, plannedPod{index: len(p.b.out.Pods), boundTo: -1, object: pod})
	return to, true
}
