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
	// at is by pod the index of its node, -1 for none. held is by pod its part of that
	// node, in millionths of total, which is by node.
	at          []int32
	held, total []int64
	// here sums held by namespace and node, without pods of DaemonSets.
	here map[holding]int64
}

// NewPresence reads every pod and move of the snapshot.
func NewPresence(s *model.Snapshot) *Presence {
	p := &Presence{s: s, at: make([]int32, len(s.Pods)), held: make([]int64, len(s.Pods)), total: make([]int64, len(s.Nodes)), here: map[holding]int64{}}
	for i := range s.Pods {
		p.at[i] = s.Pods[i].Node
	}
	for _, m := range s.Moves {
		p.at[m.Pod] = m.From
	}
	pods := make([][]int32, len(s.Nodes))
	for i, at := range p.at {
		if at >= 0 {
			pods[at] = append(pods[at], int32(i))
		}
	}
	for n := range pods {
		d := divide(s, spaceOf(s, &s.Nodes[n]), pods[n])
		p.total[n] = d.total
		for k, i := range pods[n] {
			p.held[i] = d.parts[k]
			if pod := &s.Pods[i]; !pod.Daemon {
				p.here[holding{pod.Namespace, int32(n)}] += d.parts[k]
			}
		}
	}
	return p
}

// parts returns what the pod would hold of a node without others on it, in millionths.
func (p *Presence) parts(pod, node int32) int64 {
	return divide(p.s, spaceOf(p.s, &p.s.Nodes[node]), []int32{pod}).parts[0]
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
	return up(p.worst(at), p.held[pod], p.total[at])
}

// up returns the portion of a price, rounded up and at most the price.
func up(price model.Price, parts, total int64) model.Price {
	if price <= 0 || parts <= 0 {
		return 0
	}
	return min(price, portion(price, parts, total)+1)
}

// Takes returns by namespace how much the shares of pods may rise per hour when they
// move to a node of the snapshot; never below 0. What the namespace holds of the node
// already is not taken again.
func (p *Presence) Takes(pods []int32, node int32) map[string]model.Price {
	come := map[string]coming{}
	for _, i := range pods {
		c := come[p.s.Pods[i].Namespace]
		c.add(p, i, node)
		come[p.s.Pods[i].Namespace] = c
	}
	out := map[string]model.Price{}
	for namespace, c := range come {
		out[namespace] = p.more(holding{namespace, node}, c)
	}
	return out
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

// add adds a pod that comes to a node.
func (c *coming) add(p *Presence, pod, node int32) {
	c.parts += p.parts(pod, node)
	c.leaves += p.Holds(pod)
}

// price returns the price of a namespace's share of a node.
func (p *Presence) price(h holding) model.Price {
	return portion(p.worst(h.node), p.here[h], p.total[h.node])
}

// more returns the increase of a namespace's share of a node, less what the coming pods
// leave elsewhere, once they have come; never below 0. Their share is computed as if no
// other namespace had pods on the node, since those may move elsewhere.
func (p *Presence) more(h holding, c coming) model.Price {
	worst := p.worst(h.node)
	return max(0, min(up(worst, min(c.parts, whole), whole), worst-p.price(h))-c.leaves)
}

// committed returns by namespace the price of the shares that its pods have, plus
// the increase once the pods that are to move have moved.
func (p *Presence) committed() map[string]model.Price {
	come := map[holding]coming{}
	for _, m := range p.s.Moves {
		if pod := &p.s.Pods[m.Pod]; !pod.Daemon {
			key := holding{pod.Namespace, m.To}
			c := come[key]
			c.add(p, m.Pod, m.To)
			come[key] = c
		}
	}
	out := map[string]model.Price{}
	for h := range p.here {
		out[h.namespace] += p.price(h)
	}
	for h, c := range come {
		out[h.namespace] += p.more(h, c)
	}
	return out
}
