package problem

import (
	"sync/atomic"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// Admissions remembers which nodes the specs of one question may use, its topology groups,
// and on which nodes they count pods. All problems of the question have the same pods,
// specs, nodes and groups, so that labels are compared once and not once a problem. After the
// first problem it may be used by several goroutines at the same time.
type Admissions struct {
	// topology are the groups of the question, nil before the first problem.
	topology *constraint.Groups
	snapshot *model.Snapshot
	// numbers are the specs' indexes in the snapshot. Other specs are not remembered.
	numbers map[*model.PodSpec]int32
	// suits is by spec and node, counts by topology group and node.
	suits, counts []atomic.Pointer[verdicts]
}

// verdicts are remembered answers by node. Two goroutines that find one at the same time
// find the same.
type verdicts []atomic.Uint32

const (
	unknown uint32 = iota
	yes
	no
)

// maxAdmissions bounds the answers about specs, which take a byte each. Questions with
// more of them are planned once or twice, so that little is asked again.
const maxAdmissions = 4 << 20

// NewAdmissions returns an empty memory for the problems of one question. Of nodes it
// remembers nothing where there are too many.
func NewAdmissions(s *model.Snapshot) *Admissions {
	if len(s.Nodes) == 0 || len(s.Nodes)*len(s.Specs) > maxAdmissions {
		return &Admissions{}
	}
	a := &Admissions{snapshot: s, numbers: make(map[*model.PodSpec]int32, len(s.Specs)), suits: make([]atomic.Pointer[verdicts], len(s.Specs))}
	for i := range s.Specs {
		a.numbers[&s.Specs[i]] = int32(i)
	}
	return a
}

// groups returns the topology groups of an input.
func (a *Admissions) groups(in *Input) *constraint.Groups {
	if a == nil {
		return constraint.NewGroups(in.Supply.Snapshot, in.Pods, in.Required, in.RespectPreferences)
	}
	if a.topology == nil {
		a.topology = constraint.NewGroups(in.Supply.Snapshot, in.Pods, in.Required, in.RespectPreferences)
		a.counts = make([]atomic.Pointer[verdicts], len(a.topology.All))
	}
	return a.topology.Clone()
}

// of returns the remembered answers about a spec, nil for a spec that the snapshot does
// not have.
func (a *Admissions) of(s *model.PodSpec) verdicts {
	if a == nil || a.snapshot == nil {
		return nil
	}
	at, ok := a.numbers[s]
	if !ok {
		return nil
	}
	return a.row(&a.suits[at])
}

// ofGroup returns the remembered answers about a topology group, nil for one that a problem
// has added.
func (a *Admissions) ofGroup(group int32) verdicts {
	if a == nil || a.snapshot == nil || int(group) >= len(a.counts) {
		return nil
	}
	return a.row(&a.counts[group])
}

// row returns the answers at a place, which begin as unknown.
func (a *Admissions) row(at *atomic.Pointer[verdicts]) verdicts {
	if found := at.Load(); found != nil {
		return *found
	}
	fresh := make(verdicts, len(a.snapshot.Nodes))
	if at.CompareAndSwap(nil, &fresh) {
		return fresh
	}
	return *at.Load()
}

// at returns the answer about a node, from find where it is not remembered.
func (v verdicts) at(node int32, find func() bool) bool {
	if v == nil {
		return find()
	}
	answer := v[node].Load()
	if answer == unknown {
		answer = no
		if find() {
			answer = yes
		}
		v[node].Store(answer)
	}
	return answer == yes
}

// suits reports whether selector, affinity and taints allow the pod on the host.
func (h *Host) suits(s *model.PodSpec) bool {
	return h.admissions.of(s).at(h.Node, func() bool { return h.matches(s) })
}

func (h *Host) matches(s *model.PodSpec) bool {
	return constraint.Untolerated(s.Tolerations, h.Taints) == nil && s.Selects(h.Labels)
}

// Counts reports whether a topology group of the problem counts pods on the host.
func (p *Problem) Counts(group int32, h *Host) bool {
	g := &p.Topology.All[group]
	if g.Filter == nil && len(g.Keys) == 0 {
		return true
	}
	return h.admissions.ofGroup(group).at(h.Node, func() bool { return g.CountsNode(h.Labels, h.Taints) })
}
