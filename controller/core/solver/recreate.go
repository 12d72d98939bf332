package solver

import (
	"spokeshave.dev/controller/core/draw"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/insertion"
	"spokeshave.dev/controller/core/solver/parallel"
	"spokeshave.dev/controller/core/solver/problem"
)

const (
	// recreations is how many plans are made by ruin and recreate from the best plan, with other
	// random numbers each. recreateRounds is the number of rounds of each.
	recreations    = 2
	recreateRounds = 100
)

// recreated is a plan that was made by ruin and recreate; without a Plan when none was made.
type recreated struct {
	work effort.Work
	plan outcome
}

// recreates reports whether ruin and recreate applies to the best plan: it is not one of many
// candidates, pods are few and have places but for those that would have none alone, and new nodes are
// more than one, all of NodePools of one weight.
func (s *search) recreates() bool {
	return !s.in.Candidate && s.in.Effort > 0 && len(s.best.Nodes) > 1 && s.small() && s.best.oneWeight() && !s.best.leavesPlaceable
}

// recreatesWhole reports whether ruin and recreate applies to a best plan that places all pods. Other ways to
// make such a plan cheaper are then tried less.
func (s *search) recreatesWhole() bool { return len(s.best.Unplaced) == 0 && s.recreates() }

// oneWeight reports whether the NodePools of all new nodes of the plan have the same weight. Inserting
// pods does not look at weights when it adds one to a node that is open.
func (o *outcome) oneWeight() bool {
	t := o.problem.Supply
	rank := func(node int) int32 { return t.Templates[t.Offers[o.options[node][0]].Template].WeightRank }
	for i := range o.options {
		if rank(i) != rank(0) {
			return false
		}
	}
	return true
}

// recreate makes the best plan cheaper by ruin and recreate, several times at the same time.
func (s *search) recreate() {
	made := make([]recreated, recreations)
	parallel.Each(len(made), func(i int) { made[i].make(s, uint64(i)) })
	for i := range made {
		x := &made[i]
		s.log.begin(Trial{Strategy: "ruin and recreate", Question: s.name, Why: "new nodes cost something", Effort: quickEffort})
		s.log.budget.Add(&x.work)
		switch {
		case x.plan.Plan == nil:
			s.log.drop("there are too many kinds of places, or limits are in the way")
		case !x.plan.binds(&s.question):
			s.log.drop("the scheduler would not bind all of its pods")
		default:
			s.log.end(&x.plan)
			s.consider(x.plan)
		}
	}
}

// binds reports whether the scheduler would bind all pods of an answer to a question: one after another, and
// whatever they prefer.
func (o *outcome) binds(q *question) bool {
	in, snap := q.in, *q.in.Snapshot
	snap.Specs = q.required
	in.Snapshot = &snap
	return len(o.unbindable(&in)) == 0
}

// make makes the plan. It reads the search and does not change it.
func (x *recreated) make(s *search, seed uint64) {
	in := s.in
	in.Effort, in.work = min(in.Effort, quickEffort), &x.work
	p := problem.New(in.problem(s.required))
	hosts := p.Hosts()
	start := s.start(p, hosts)
	if start == nil {
		return
	}
	if t := insertion.Recreate(p, in.options(), hosts, start, recreateRounds, draw.Numbers(seed)); t != nil {
		x.plan = write(p, &in, t.Attempt, hosts)
	}
}

// start returns where the best plan has the pods; nil when the offers of a problem are not
// those of the plan.
func (s *search) start(p *problem.Problem, hosts []problem.Host) []insertion.Start {
	if p.Supply != s.best.problem.Supply {
		return nil
	}
	class, hostOf := map[int32]int32{}, map[int32]int32{}
	for c := range p.Classes {
		for _, pod := range p.Classes[c].Pods {
			class[pod] = int32(c)
		}
	}
	for i := range hosts {
		hostOf[hosts[i].Node] = int32(i)
	}
	var out []insertion.Start
	for i := range s.best.Existing {
		for _, pod := range s.best.Existing[i].Pods {
			out = append(out, insertion.Start{Class: class[pod], Host: hostOf[s.best.Existing[i].Node]})
		}
	}
	for i := range s.best.Nodes {
		for _, pod := range s.best.Nodes[i].Pods {
			out = append(out, insertion.Start{Class: class[pod], Host: -1, Node: int32(i), Offer: s.best.options[i][0]})
		}
	}
	return out
}
