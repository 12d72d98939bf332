package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"runtime"
	"syscall"
	"time"

	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/random"
)

// meter plans scenarios and says how far it is.
type meter struct {
	runs     int
	progress io.Writer
}

// all plans the scenarios of the seeds from 0.
func (m *meter) all(seeds int) []outcome {
	out := make([]outcome, 0, seeds)
	started, said := time.Now(), time.Now()
	for seed := range seeds {
		o := plan(uint64(seed))
		for range m.runs - 1 {
			o.cpu = min(o.cpu, plan(uint64(seed)).cpu)
		}
		out = append(out, o)
		if time.Since(said) > 5*time.Second {
			said = time.Now()
			fmt.Fprintf(m.progress, "%d of %d scenarios, %.0f s\n", seed+1, seeds, time.Since(started).Seconds())
		}
	}
	return out
}

// plan solves the scenario of a seed and, where nodes run pods, searches for
// disruptions.
func plan(seed uint64) outcome {
	s := random.NewScenario(seed)
	in := input(&s)
	runtime.GC() // what came before is not to be paid for here
	before := cpu()
	p, stats := solver.Solve(in)
	var found []*disrupt.Proposal
	if s.Running {
		found = search(&in, &p)
	}
	spent := cpu() - before
	sum := sha256.New()
	writePlan(sum, &p)
	cost := stats.Effective + stats.Fixed.USD()
	for i := range in.Snapshot.Nodes {
		cost += in.Snapshot.Nodes[i].Cost().USD()
	}
	for _, f := range found {
		fmt.Fprintln(sum, "disrupt", f.Method, f.Nodes)
		writePlan(sum, &f.Sim.Plan)
		cost -= f.Saves()
	}
	return outcome{
		seed: seed, kind: s.Kind, digest: hex.EncodeToString(sum.Sum(nil)[:8]), cost: cost,
		placed: len(in.Pods) - len(p.Unplaced), asked: len(in.Pods), cpu: float64(spent.Microseconds()) / 1000,
	}
}

// search finds what could go once the plan is carried out. All that is proposed is
// begun.
func search(in *solver.Input, p *model.Plan) []*disrupt.Proposal {
	s := in.Snapshot
	survey := disrupt.NewSurvey(s, nil)
	var options []disrupt.Option
	for i := range s.Nodes {
		if method, _, ok := survey.Candidate(int32(i)); ok && method == disrupt.Underutilized {
			options = append(options, disrupt.Option{Node: int32(i), Cost: survey.Cost(int32(i))})
		}
	}
	left := make([]int, len(s.Pools))
	for i := range left {
		left[i] = disrupt.Allowed(&s.Pools[i].Disruption, disrupt.Underutilized)
	}
	projection := disrupt.NewProjection(survey, in, p.Existing)
	var found []*disrupt.Proposal
	projection.Search(options, left, disrupt.DefaultEffort(), func(x *disrupt.Proposal) []int32 {
		projection.Accept(x.Nodes, &x.Sim.Plan)
		found = append(found, x)
		return nil
	})
	return found
}

// cpu is the processor time that this process has taken.
func cpu() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
