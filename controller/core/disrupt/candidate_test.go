package disrupt

import (
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// TestCandidates: the solver is told that the plans of a search are many, of which few are
// carried out. In a quiet cluster of eight nodes the search took more than twice the time otherwise.
func TestCandidates(t *testing.T) {
	s := spread3(time.Now())
	in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 1), Costs: make([]solver.Costs, 1), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
	sc := NewProjection(NewSurvey(s, nil), &in, nil)
	proposals := 0
	sc.Search([]Option{{Node: 0}, {Node: 1}, {Node: 2}}, []int{3}, DefaultEffort(), func(p *Proposal) []int32 {
		proposals++
		if !p.Sim.Input.Candidate {
			t.Errorf("nodes %v: the question does not say that its plan is a candidate", p.Nodes)
		}
		sc.Accept(p.Nodes, &p.Sim.Plan)
		return nil
	})
	if proposals == 0 {
		t.Error("the search proposed nothing")
	}
	if in.Candidate {
		t.Error("the input of the decision was changed")
	}
}
