package solver

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// host is a node that exists or is in flight, with its free capacity.
type host struct {
	node   int32
	free   vec.Vector
	ports  []int32
	taints []model.Taint
	labels func(string) (string, bool)
	placed []classCount
	// counts are the pods on the node by topology group.
	counts constraint.NodeCounts
}

// closeAccounts sets negative free amounts to 0, and all amounts of a node that is
// being deleted.
func (h *host) closeAccounts(state model.NodeState) {
	for r := range h.free {
		h.free[r] = max(0, h.free[r])
	}
	if state == model.Deleting {
		h.free = vec.Vector{}
	}
}

func (h *host) occupy(w *podUsage) {
	h.free.Add(&w.req, -1)
	if w.ports >= 0 {
		h.ports = append(h.ports, w.ports)
	}
}

// suits reports whether selector, affinity and taints allow the pod on the host.
func (h *host) suits(s *model.PodSpec) bool {
	return constraint.Untolerated(s.Tolerations, h.taints) == nil && constraint.Selects(s, h.labels)
}

// admits reports whether suits holds for all pods of a class.
func (h *host) admits(cl *class) bool {
	return h.suits(cl.spec) && !slices.ContainsFunc(cl.otherSpecs, func(s *model.PodSpec) bool { return !h.suits(s) })
}

// place places up to n pods of a class on the host and returns how many. terms
// are those of its topology terms that must hold.
func (h *host) place(p *problem, c, n int32, terms *constraint.Terms) int32 {
	cl := &p.classes[c]
	if !vec.Fits(&cl.req, &h.free, p.supply.Dims.N()) || p.ports.ConflictsWithAny(cl.ports, h.ports) || !h.admits(cl) {
		return 0
	}
	if n = h.counts.Allows(terms, n); n == 0 {
		return 0
	}
	n = vec.MaxCopies(&cl.req, &h.free, n, p.supply.Dims.N())
	if cl.ports >= 0 {
		n = 1
		h.ports = append(h.ports, cl.ports)
	}
	h.free.Add(&cl.req, -int64(n))
	h.placed = append(h.placed, classCount{c, n})
	h.counts.Add(cl.terms, n)
	return n
}

// removePods removes up to n pods of a class from the host and returns how many.
func (h *host) removePods(cl *class, c, n int32) int32 {
	got := removePods(&h.placed, c, n)
	h.counts.Remove(cl.terms, got)
	return got
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
