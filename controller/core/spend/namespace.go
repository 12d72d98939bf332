package spend

import "spokeshave.dev/controller/core/model"

// namespaces sums what the pods of each namespace hold of the nodes that they
// are on, and of those that they are planned for, by scope name.
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

// Presence is who is on which node now, wherever plans count them.
type Presence struct {
	s *model.Snapshot
	// at is by pod the node that it is on, -1 for none; total is by node what its
	// pods hold of it, in parts of a million.
	at    []int32
	total []int64
}

// NewPresence looks at every pod.
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

// worst is what a node may cost per hour, as far as caps count it.
func (p *Presence) worst(node int32) model.Price {
	n := &p.s.Nodes[node]
	if !managed(n) || n.Noticed {
		return 0
	}
	return max(n.Cost(), n.Reserved)
}

// Holds is the pod's share of the node that it is on, 0 on none. Like what a pod is
// to hold it is rounded up: a place as dear as the one before costs nothing more.
func (p *Presence) Holds(pod int32) model.Price {
	at := p.at[pod]
	if at < 0 {
		return 0
	}
	return up(p.worst(at), p.parts(pod, at), max(whole, p.total[at]))
}

// up is the portion of a price, rounded up, and no more than the price.
func up(price model.Price, parts, total int64) model.Price {
	if price <= 0 || parts <= 0 {
		return 0
	}
	return min(price, portion(price, parts, total)+1)
}

// Takes is the share of a node in the snapshot that the pod comes to hold at
// most, beyond what it holds where it is.
func (p *Presence) Takes(pod, node int32) model.Price {
	return max(0, up(p.worst(node), p.parts(pod, node), whole)-p.Holds(pod))
}

// holding is a namespace on a node, coming is what it is to hold there.
type holding struct {
	namespace string
	node      int32
}

type coming struct {
	parts int64
	// leaves is what those who come hold of the nodes that they are on.
	leaves model.Price
}

// committed is by namespace what its pods hold, and what those that are to come
// to a node will hold more there than where they are. Those who come count as if
// no other namespace's pods did: these may find room elsewhere.
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
