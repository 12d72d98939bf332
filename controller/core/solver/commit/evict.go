package commit

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/problem"
)

// evictor removes pods from a plan whose constraints do not hold in it.
type evictor struct {
	a     *Attempt
	hosts []problem.Host
	of    *domains.Assignment
	// placed is by class how many pods, or groups of a bundle, the plan places.
	placed []int32
}

// EvictUnsatisfied removes pods from the plan whose constraints do not hold in it.
// Such pods exist when others, which were assigned to a domain and on which they
// depend, found no node there.
func (a *Attempt) EvictUnsatisfied(hosts []problem.Host, of *domains.Assignment) {
	if of.Counts == nil {
		return
	}
	e := evictor{a: a, hosts: hosts, of: of, placed: make([]int32, len(a.p.Classes))}
	for c := range a.p.Classes {
		e.placed[c] = a.p.Classes[c].N() - a.Left[c]
		of.Remove(int32(c), a.Left[c])
	}
	for again := true; again; {
		again = e.evictExcess()
		for h := range hosts {
			again = e.evictOrphans(&hosts[h]) || again
		}
	}
	a.Nodes = slices.DeleteFunc(a.Nodes, func(n *Node) bool { return len(n.Placed) == 0 })
}

// evictExcess removes the pods that rules do not allow in their domain, once for each
// class. It reports whether it removed any.
func (e *evictor) evictExcess() bool {
	evicted := false
	for c := range e.a.p.Classes {
		n, why := e.of.Excess(int32(c), e.placed[c])
		if n == 0 {
			continue
		}
		evicted = true
		e.evict(int32(c), n)
		e.a.p.Classes[c].Reasons = []model.Reason{why}
	}
	return evicted
}

// evictOrphans removes the pods of a host whose affinity on that host is no longer
// met because other pods were removed. It reports whether it removed any.
func (e *evictor) evictOrphans(h *problem.Host) bool {
	for _, t := range h.Placed {
		cl := &e.a.p.Classes[t.Class]
		if cl.NeedsOthersOnHost() == 0 || e.hasAffinityTarget(h, cl) {
			continue
		}
		h.RemovePods(cl, t.Class, t.N)
		e.count(t.Class, t.N)
		cl.Reasons = []model.Reason{{Code: model.PodAffinity, Message: "the pods that it wants on its own node have no place themselves"}}
		return true
	}
	return false
}

// count records that n pods of a class were removed.
func (e *evictor) count(c, n int32) {
	e.a.Left[c] += n
	e.placed[c] -= n
	e.of.Remove(c, n)
}

// hasAffinityTarget reports whether a host has a pod that satisfies the class's host
// affinity and does not have the same affinity itself.
func (e *evictor) hasAffinityTarget(h *problem.Host, cl *problem.Class) bool {
	for _, r := range cl.Terms.HostRules {
		if r.Kind != constraint.Affinity {
			continue
		}
		n := h.Counts.CountOf(r.Group)
		for _, t := range h.Placed {
			if other := e.a.p.Classes[t.Class].Terms; other != nil && slices.Contains(other.HostRules, r) && other.IsCountedBy(r.Group) {
				n -= t.N
			}
		}
		if n <= 0 {
			return false
		}
	}
	return true
}

// evict removes n pods of a class from where they were placed, from planned nodes
// first.
func (e *evictor) evict(c, n int32) {
	e.count(c, n)
	cl := &e.a.p.Classes[c]
	for i := len(e.a.Nodes) - 1; i >= 0 && n > 0; i-- {
		x := e.a.Nodes[i]
		got := problem.RemovePods(&x.Placed, c, n)
		n -= got
		x.Demand.Add(&cl.Requests, -int64(got))
	}
	for i := len(e.hosts) - 1; i >= 0 && n > 0; i-- {
		n -= e.hosts[i].RemovePods(cl, c, n)
	}
}
