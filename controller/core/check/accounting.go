package check

import "fmt"

// proveAccounting proves that each pod that the plan was asked to place is
// listed exactly once, with a node or with reasons, and that no other is.
func (p *proof) proveAccounting() {
	listed := map[int32]int{}
	list := func(where string, pods ...int32) {
		for _, i := range pods {
			pod := p.podAt(i)
			if pod == nil {
				p.reject(BadReference, where, "pod %d does not exist", i)
				continue
			}
			listed[i]++
			if listed[i] > 1 {
				p.reject(Accounting, where, "pod %s is listed more than once", pod.Key())
			}
			if !p.replaced[i] {
				p.reject(Accounting, where, "pod %s was not to be placed", pod.Key())
			}
		}
	}
	p.eachListed(list)
	for _, i := range p.given.Pods {
		if pod := p.podAt(i); pod != nil && listed[i] == 0 {
			p.reject(Accounting, pod.Key(), "the pod is neither placed nor reported")
		}
	}
	p.proveNodesOnce()
}

// eachListed calls list with every place of the plan that lists pods. A pod without
// a place must have a reason.
func (p *proof) eachListed(list func(where string, pods ...int32)) {
	for i := range p.plan.Nodes {
		list(p.titleOf(i), p.plan.Nodes[i].Pods...)
	}
	for i := range p.plan.Existing {
		list(fmt.Sprintf("assignment %d", i), p.plan.Existing[i].Pods...)
	}
	for i := range p.plan.Unplaced {
		u := &p.plan.Unplaced[i]
		list("unplaced", u.Pod)
		if len(u.Reasons) == 0 {
			p.reject(Accounting, "unplaced", "pod %d has no reason", u.Pod)
		}
	}
}

// proveNodesOnce proves that no existing node is listed twice.
func (p *proof) proveNodesOnce() {
	nodes := map[int32]bool{}
	for i := range p.plan.Existing {
		to := p.plan.Existing[i].Node
		if nodes[to] {
			p.reject(Accounting, fmt.Sprintf("assignment %d", i), "node %d is listed twice", to)
		}
		nodes[to] = true
	}
}
