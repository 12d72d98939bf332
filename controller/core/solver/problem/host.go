package problem

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// Host is a node that exists or is in flight, with its free capacity.
type Host struct {
	// Node is its index in the snapshot.
	Node int32
	// Free is the capacity that is left, and Ports are the host ports in use, by
	// their numbers in Problem.Ports.
	Free  vec.Vector
	Ports []int32
	// rare are the free amounts of the rare resources of dims, before the plan puts a pod
	// there; nil when there are none.
	rare   []int64
	dims   *supply.Dims
	Taints []model.Taint // without those that will be removed by themselves
	// admissions remembers what the question's problems found of the host; nil for none.
	admissions *Admissions
	Labels     func(string) (string, bool)
	// Placed are the pods that the plan puts there.
	Placed []ClassCount
	// Counts are the pods on the node by topology group.
	Counts constraint.NodeCounts
}

// closeAccounts sets negative free amounts to 0, and all amounts of a node that is
// being deleted.
func (h *Host) closeAccounts(state model.NodeState) {
	for r := range h.Free {
		h.Free[r] = max(0, h.Free[r])
	}
	if state == model.Deleting {
		h.Free = vec.Vector{}
	}
}

func (h *Host) occupy(w *podUsage) {
	h.Free.Add(&w.req, -1)
	for i, n := range w.rare {
		h.rare[i] -= n
	}
	if w.ports >= 0 {
		h.Ports = append(h.Ports, w.ports)
	}
}

// Admits reports whether selector, affinity, taints and the rare resources allow the pods
// of a class on the host.
func (h *Host) Admits(cl *Class) bool {
	if h.rare != nil && !h.dims.FitsRare(cl.Spec.Requests, h.rare) {
		return false
	}
	return (cl.BundleSize > 0 || h.suits(cl.Spec)) && !slices.ContainsFunc(cl.BundleSpecs, func(s *model.PodSpec) bool { return !h.suits(s) })
}

// Clone returns a copy on which pods may be placed.
func (h *Host) Clone() Host {
	out := *h
	out.Ports, out.Placed, out.Counts.Counts = slices.Clone(h.Ports), slices.Clone(h.Placed), slices.Clone(h.Counts.Counts)
	return out
}

// Place places up to n pods of a class on the host and returns how many. terms
// are those of its topology terms that must hold.
func (h *Host) Place(p *Problem, c, n int32, terms *constraint.Terms) int32 {
	cl := &p.Classes[c]
	if !vec.Fits(&cl.Requests, &h.Free, p.Supply.Dims.N()) || p.Ports.ConflictsWithAny(cl.Ports, h.Ports) || !h.Admits(cl) {
		return 0
	}
	if n = h.Counts.Allows(terms, n); n == 0 {
		return 0
	}
	n = vec.MaxCopies(&cl.Requests, &h.Free, n, p.Supply.Dims.N())
	if cl.Ports >= 0 {
		n = 1
		h.Ports = append(h.Ports, cl.Ports)
	}
	h.Free.Add(&cl.Requests, -int64(n))
	h.Placed = append(h.Placed, ClassCount{c, n})
	h.Counts.Add(cl.Terms, n)
	return n
}

// RemovePods removes up to n pods of a class from the host and returns how many.
func (h *Host) RemovePods(cl *Class, c, n int32) int32 {
	got := RemovePods(&h.Placed, c, n)
	h.Counts.Remove(cl.Terms, got)
	return got
}

// RemovePods removes up to n pods of a class from a list and returns how many.
func RemovePods(takes *[]ClassCount, c, n int32) int32 {
	got := int32(0)
	for i := range *takes {
		if t := &(*takes)[i]; t.Class == c {
			m := min(t.N, n-got)
			t.N -= m
			got += m
		}
	}
	*takes = slices.DeleteFunc(*takes, func(t ClassCount) bool { return t.N == 0 })
	return got
}
