package spend

import "spokeshave.dev/controller/core/model"

// namespaces returns, by scope name, the shares that each namespace's pods have of
// the nodes they are on and of the nodes they are planned for.
func namespaces(s *model.Snapshot) map[string]*Scope {
	out := map[string]*Scope{}
	of := func(namespace string) *Scope {
		return get(out, Namespace+namespace, func(name string) *Scope { return &Scope{Name: name} })
	}
	for i, shares := range Shares(s) {
		n, last := &s.Nodes[i], (*Scope)(nil)
		for j := range shares {
			if shares[j].Kind != Workload {
				continue
			}
			scope := of(shares[j].Namespace)
			if n.Reserved == 0 {
				scope.MonthToDate += since(shares[j].Price, n.LaunchedAt, s.Time)
				if !n.Noticed {
					scope.Running += shares[j].Price
				}
			}
			if scope != last {
				scope.Nodes++
			}
			last = scope
		}
	}
	for namespace, sum := range NewPresence(s).committed() {
		scope := of(namespace)
		scope.InFlight = max(0, sum-scope.Running)
	}
	return out
}

// Presence says which node each pod is on now. A pod of Snapshot.Moves counts on the
// node it leaves.
type Presence struct {
	s *model.Snapshot
	// at is by pod the index of its node, -1 for none. total is by node the sum of
	// its pods' dominant shares, in millionths of the node.
	at    []int32
	total []int64
}

// NewPresence reads every pod and move of the snapshot.
func NewPresence(s *model.Snapshot) *Presence {
	p := &Presence{s: s, at: make([]int32, len(s.Pods)), total: make([]int64, len(s.Nodes))}
	for i := range s.Pods {
		p.at[i] = s.Pods[i].Node
	}
	for _, m := range s.Moves {
		p.at[m.Pod] = m.From
	}
	for i, at := range p.at {
		if at >= 0 {
			p.total[at] += p.parts(int32(i), at)
		}
	}
	return p
}

func (p *Presence) parts(pod, node int32) int64 {
	return dominant(p.s.Specs[p.s.Pods[pod].Spec].Requests, p.s.Nodes[node].Allocatable)
}

// worst returns the highest hourly price that the caps count for a node: 0 for an
// unmanaged node and for one with an interruption notice.
func (p *Presence) worst(node int32) model.Price {
	n := &p.s.Nodes[node]
	if !managed(n) || n.Noticed {
		return 0
	}
	return max(n.Cost(), n.Reserved)
}

// Holds returns the pod's share of its node's hourly price, 0 for a pod on no node.
// It is rounded up, as Takes is, so that a move to a place of equal price costs
// nothing.
func (p *Presence) Holds(pod int32) model.Price {
	at := p.at[pod]
	if at < 0 {
		return 0
	}
	return up(p.worst(at), p.parts(pod, at), max(whole, p.total[at]))
}

// up returns the portion of a price, rounded up and at most the price.
func up(price model.Price, parts, total int64) model.Price {
	if price <= 0 || parts <= 0 {
		return 0
	}
	return min(price, portion(price, parts, total)+1)
}

// Takes returns how much the pod's share may rise per hour when it moves to a node
// of the snapshot; never below 0.
func (p *Presence) Takes(pod, node int32) model.Price {
	return max(0, up(p.worst(node), p.parts(pod, node), whole)-p.Holds(pod))
}

// holding is the key of a namespace's share of a node. coming is the share that its
// pods will have there.
type holding struct {
	namespace string
	node      int32
}

type coming struct {
	parts int64
	// leaves is the price of the shares that the coming pods have where they are
	// now.
	leaves model.Price
}

// committed returns by namespace the price of the shares that its pods have, plus
// the increase once the pods that are to move have moved. A coming pod's share is
// computed as if no other namespace had pods on the node, since those may move
// elsewhere.
func (p *Presence) committed() map[string]model.Price {
	here, come := map[holding]int64{}, map[holding]coming{}
	for i, at := range p.at {
		if pod := &p.s.Pods[i]; at >= 0 && !pod.Daemon {
			here[holding{pod.Namespace, at}] += p.parts(int32(i), at)
		}
	}
	for _, m := range p.s.Moves {
		pod := &p.s.Pods[m.Pod]
		if pod.Daemon {
			continue
		}
		key := holding{pod.Namespace, m.To}
		c := come[key]
		c.parts += p.parts(m.Pod, m.To)
		c.leaves += p.Holds(m.Pod)
		come[key] = c
	}
	out := map[string]model.Price{}
	held := func(h holding) model.Price {
		return portion(p.worst(h.node), here[h], max(whole, p.total[h.node]))
	}
	for h := range here {
		out[h.namespace] += held(h)
	}
	for h, c := range come {
		price := p.worst(h.node)
		more := min(up(price, min(c.parts, whole), whole), price-held(h))
		out[h.namespace] += max(0, more-c.leaves)
	}
	return out
}
