package solver

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// evictUnsatisfied removes pods from the plan whose constraints do not hold in it.
// Such pods exist when others, which were assigned to a domain and on which they
// depend, found no node there.
func (p *problem) evictUnsatisfied(a *attempt, hosts []host, of *domainAssignment) {
	if of.counts == nil {
		return
	}
	placed := make([]int32, len(p.classes))
	for c := range p.classes {
		cl := &p.classes[c]
		placed[c] = cl.n() - a.left[c]
		of.remove(int32(c), a.left[c])
	}
	for again := true; again; {
		again = false
		for c := range p.classes {
			n, why := of.excess(int32(c), placed[c])
			if n == 0 {
				continue
			}
			again = true
			placed[c] -= n
			of.remove(int32(c), n)
			a.evict(hosts, int32(c), n)
			p.classes[c].reasons = []model.Reason{why}
		}
		for h := range hosts {
			again = p.evictOrphans(a, &hosts[h], of, placed) || again
		}
	}
	a.nodes = slices.DeleteFunc(a.nodes, func(n *planned) bool { return len(n.placed) == 0 })
}

// evictOrphans removes the pods of a host whose affinity on that host is no longer
// met because other pods were removed. It reports whether it removed any.
func (p *problem) evictOrphans(a *attempt, h *host, of *domainAssignment, placed []int32) bool {
	for _, t := range h.placed {
		cl := &p.classes[t.class]
		if cl.needsOthersOnHost() == 0 || p.hasAffinityTarget(h, cl) {
			continue
		}
		h.removePods(cl, t.class, t.n)
		a.left[t.class] += t.n
		placed[t.class] -= t.n
		of.remove(t.class, t.n)
		cl.reasons = []model.Reason{{Code: model.PodAffinity, Message: "the pods that it wants on its own node have no place themselves"}}
		return true
	}
	return false
}

// hasAffinityTarget reports whether a host has a pod that satisfies the class's host
// affinity and does not have the same affinity itself.
func (p *problem) hasAffinityTarget(h *host, cl *class) bool {
	for _, r := range cl.terms.HostRules {
		if r.Kind != constraint.Affinity {
			continue
		}
		n := h.counts.CountOf(r.Group)
		for _, t := range h.placed {
			if other := p.classes[t.class].terms; other != nil && slices.Contains(other.HostRules, r) && other.IsCountedBy(r.Group) {
				n -= t.n
			}
		}
		if n <= 0 {
			return false
		}
	}
	return true
}

// removePods removes up to n pods of a class from the host and returns how many.
func (h *host) removePods(cl *class, c, n int32) int32 {
	got := removePods(&h.placed, c, n)
	h.counts.Remove(cl.terms, got)
	return got
}

// evict removes n pods of a class from where they were placed, from planned nodes
// first.
func (a *attempt) evict(hosts []host, c, n int32) {
	a.left[c] += n
	for i := len(a.nodes) - 1; i >= 0 && n > 0; i-- {
		x := a.nodes[i]
		got := removePods(&x.placed, c, n)
		n -= got
		x.demand.Add(&a.p.classes[c].req, -int64(got))
	}
	for i := len(hosts) - 1; i >= 0 && n > 0; i-- {
		n -= hosts[i].removePods(&a.p.classes[c], c, n)
	}
}

// removePods removes up to n pods of a class from a list and returns how many.
func removePods(takes *[]classCount, c, n int32) int32 {
	got := int32(0)
	for i := range *takes {
		if t := &(*takes)[i]; t.class == c {
			m := min(t.n, n-got)
			t.n -= m
			got += m
		}
	}
	*takes = slices.DeleteFunc(*takes, func(t classCount) bool { return t.n == 0 })
	return got
}
