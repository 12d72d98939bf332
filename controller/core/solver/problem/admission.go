package problem

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// Admissions remembers which nodes the specs of one question may use, its topology groups,
// and on which nodes they count pods. All problems of the question have the same pods,
// specs, nodes and groups, so that labels are compared once and not once a problem. It is
// used by one goroutine at a time.
type Admissions struct {
	// topology are the groups of the question, nil before the first problem.
	topology *constraint.Groups
	snapshot *model.Snapshot
	// numbers are the specs' indexes in the snapshot. Other specs are not remembered.
	numbers map[*model.PodSpec]int32
	// suits is by spec and node, counts by topology group and node.
	suits, counts [][]verdict
}

// verdict is a remembered answer.
type verdict uint8

const (
	unknown verdict = iota
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
	a := &Admissions{snapshot: s, numbers: make(map[*model.PodSpec]int32, len(s.Specs)), suits: make([][]verdict, len(s.Specs))}
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
	}
	return a.topology.Clone()
}

// of returns the remembered answers about a spec by node, nil for a spec that the
// snapshot does not have.
func (a *Admissions) of(s *model.PodSpec) []verdict {
	if a == nil || a.snapshot == nil {
		return nil
	}
	at, ok := a.numbers[s]
	if !ok {
		return nil
	}
	if a.suits[at] == nil {
		a.suits[at] = make([]verdict, len(a.snapshot.Nodes))
	}
	return a.suits[at]
}

// ofGroup returns the remembered answers about a topology group by node.
func (a *Admissions) ofGroup(group int32, groups int) []verdict {
	if a == nil || a.snapshot == nil {
		return nil
	}
	if len(a.counts) < groups {
		a.counts = make([][]verdict, groups)
	}
	if a.counts[group] == nil {
		a.counts[group] = make([]verdict, len(a.snapshot.Nodes))
	}
	return a.counts[group]
}

// suits reports whether selector, affinity and taints allow the pod on the host.
func (h *Host) suits(s *model.PodSpec) bool {
	row := h.admissions.of(s)
	if row == nil {
		return h.matches(s)
	}
	if row[h.Node] == unknown {
		row[h.Node] = no
		if h.matches(s) {
			row[h.Node] = yes
		}
	}
	return row[h.Node] == yes
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
	row := h.admissions.ofGroup(group, len(p.Topology.All))
	if row == nil {
		return g.CountsNode(h.Labels, h.Taints)
	}
	if row[h.Node] == unknown {
		row[h.Node] = no
		if g.CountsNode(h.Labels, h.Taints) {
			row[h.Node] = yes
		}
	}
	return row[h.Node] == yes
}
