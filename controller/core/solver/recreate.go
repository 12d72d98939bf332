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
// candidates, places all pods, which are few and have constraints on each other, and has more than one new
// node. Inserting pods does not look at the weights of NodePools when it adds one to a node that is open.
func (s *search) recreates() bool {
	return !s.in.Candidate && len(s.best.Unplaced) == 0 && len(s.best.Nodes) > 1 && s.small() && s.few() && s.best.problem.Supply.WeightRanks == 1
}

// recreate makes the best plan cheaper by ruin and recreate, several times at the same time.
func (s *search) recreate() {
	made := make([]recreated, recreations)
	parallel.Each(len(made), func(i int) { made[i].make(s, uint64(i)) })
	for i := range made {
		x := &made[i]
		s.log.begin(Trial{Strategy: "ruin and recreate", Question: s.name, Why: "new nodes cost something", Effort: quickEffort})
		s.log.budget.Add(&x.work)
		if x.plan.Plan == nil {
			s.log.drop("there are too many kinds of places, or limits are in the way")
			continue
		}
		s.log.end(&x.plan)
		s.consider(x.plan)
	}
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
