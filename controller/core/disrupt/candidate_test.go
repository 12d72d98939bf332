package disrupt

import (
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// TestCandidates: a search tells the solver that its plans are candidates. With ruin and recreate,
// which the solver leaves out for them, searches in a cluster of eight nodes took twice the time.
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
