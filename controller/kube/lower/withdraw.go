package lower

import (
	"slices"

	"spokeshave.dev/controller/core/binding"
	"spokeshave.dev/controller/core/model"
)

// withdrawUnfit takes planned pods back from nodes that accept pods and to which the
// scheduler will not bind them, because other pods were bound there first or elsewhere than
// planned: the room is taken, or a constraint between pods forbids it. Such a pod counts on
// the node to which it is bound again, or is pending. For a pod that preempts others, those
// that end and those of lower priority make room.
func (p *plannedPods) withdrawUnfit() {
	b := p.b
	waiting := map[int]bool{}
	byNode := map[int32][]int32{} // the other pods of nodes that accept pods
	for _, e := range p.unbound {
		waiting[e.index] = true
		for _, at := range slices.Concat(p.others(&e), []int32{b.out.Pods[e.index].Node}) {
			if b.hosts(at) {
				byNode[at] = nil
				b.out.Nodes[at].Nominated = false
			}
		}
	}
	if len(byNode) == 0 {
		return
	}
	for i := range b.out.Pods {
		if at := b.out.Pods[i].Node; !waiting[i] {
			if list, ok := byNode[at]; ok {
				byNode[at] = append(list, int32(i))
			}
		}
	}
	for i := range p.unbound {
		p.findRoom(&p.unbound[i], byNode)
	}
	p.withdrawRefused(byNode)
	for _, e := range p.unbound {
		if at := b.out.Pods[e.index].Node; at >= 0 && at != e.boundTo {
			b.out.Nodes[at].Nominated = true
		}
	}
}

// findRoom withdraws the pod from its node if that accepts pods and has no room left. byNode
// has the pods that use such nodes, and gets the pod if it stays.
func (p *plannedPods) findRoom(e *plannedPod, byNode map[int32][]int32) {
	b := p.b
	pod := &b.out.Pods[e.index]
	for {
		users, accepts := byNode[pod.Node]
		if !accepts {
			return
		}
		room := p.room(e, users)
		if fits(room, b.out.Specs[pod.Spec].Requests) {
			byNode[pod.Node] = append(users, int32(e.index))
			return
		}
		if !p.withdraw(e, room) {
			return
		}
	}
}

// withdrawRefused takes back the pods that a spread constraint, an affinity or an
// anti-affinity keeps off the node that waits for them. Others count as bound to the node on
// which they are planned: those that are still bound elsewhere, those for which the scheduler
// preempts others, and those on nodes that accept no pods yet. byNode is that of findRoom.
func (p *plannedPods) withdrawRefused(byNode map[int32][]int32) {
	at := make(map[int32]*plannedPod, len(p.unbound))
	waiting := make([]int32, 0, len(p.unbound))
	for i := range p.unbound {
		if e := &p.unbound[i]; e.boundTo < 0 && !e.preempts && p.accepts(e) {
			at[int32(e.index)] = e
			waiting = append(waiting, int32(e.index))
		}
	}
	if len(waiting) == 0 {
		return
	}
	for _, i := range binding.Refused(&p.b.out, waiting) {
		if p.withdraw(at[i], model.Resources{}) {
			p.findRoom(at[i], byNode)
		}
	}
}

// accepts reports whether the pod is planned onto a node that accepts pods.
func (p *plannedPods) accepts(e *plannedPod) bool {
	node := p.b.out.Pods[e.index].Node
	return node >= 0 && p.b.hosts(node)
}

// withdraw takes a planned pod back. room is what is left on its node, which is updated.
// again says that the pod counts on another node now, onto which it is planned as well.
func (p *plannedPods) withdraw(e *plannedPod, room model.Resources) (again bool) {
	b := p.b
	pod := &b.out.Pods[e.index]
	b.claimUsers.remove(e.object, pod.Node, b.out.Nodes[pod.Node].Allocatable, room)
	if pod.Announced != "" && b.in.Withdraw != nil {
		b.in.Withdraw(b.claims[pod.Node].Name, pod.Announced, 1)
	}
	others := p.others(e)
	if len(others) == 0 {
		pod.Node = e.boundTo
		return false
	}
	pod.Node, p.further[pod.Key()] = others[0], others[1:]
	b.claimUsers.add(e.object, pod.Node)
	return true
}

// others returns the further nodes onto which the pod is planned: none for pods with volumes,
// which nodes count apart.
func (p *plannedPods) others(e *plannedPod) []int32 {
	if pod := &p.b.out.Pods[e.index]; pod.Exists() && e.boundTo < 0 && len(e.object.Spec.Volumes) == 0 {
		return p.further[pod.Key()]
	}
	return nil
}

// room returns what the other pods leave of the pod's node.
func (p *plannedPods) room(e *plannedPod, others []int32) model.Resources {
	b := p.b
	pod := &b.out.Pods[e.index]
	room := b.out.Nodes[pod.Node].Allocatable.Clone()
	for _, i := range others {
		spec := &b.out.Specs[b.out.Pods[i].Spec]
		if !e.preempts || !b.out.Pods[i].Ending && spec.Priority >= b.out.Specs[pod.Spec].Priority {
			subtract(room, spec.Requests)
		}
	}
	return room
}

func fits(room, requests model.Resources) bool {
	for name, n := range requests {
		if n > room[name] {
			return false
		}
	}
	return true
}

func subtract(room, requests model.Resources) {
	for name, n := range requests {
		room[name] -= n
	}
}
