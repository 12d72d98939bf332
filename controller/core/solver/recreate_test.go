package solver_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/random"
)

// recreation is what the trials of ruin and recreate did to a plan of 60 pods of a mix.
func recreation(t *testing.T, mix string, seed uint64, change func(*solver.Input)) (before, after float64, ran bool) {
	t.Helper()
	in := scenario(t, mix, 60)
	r := rand.New(rand.NewPCG(seed, 5))
	in.Snapshot.Specs = nil
	for i := range in.Snapshot.Pods {
		in.Snapshot.Specs = append(in.Snapshot.Specs, mixes[mix](r))
		in.Snapshot.Pods[i].Spec = int32(i)
	}
	change(&in)
	plan, stats := solver.Solve(in)
	for _, v := range check.Plan(in.Snapshot, &plan, check.Constraints{Pods: in.Pods}) {
		t.Errorf("seed %d: %s", seed, v)
	}
	if again, _ := solver.Solve(in); !cmp.Equal(plan, again) {
		t.Errorf("seed %d: another plan the second time", seed)
	}
	for i := range stats.Trials {
		x := &stats.Trials[i]
		switch {
		case x.Strategy == "ruin and recreate":
			ran = true
		case x.Dropped == "" && x.Unplaced == len(plan.Unplaced) && (before == 0 || x.Cost < before):
			before = x.Cost
		}
	}
	return before, stats.Effective + stats.Fixed.USD(), ran
}

// TestRecreate: ruin and recreate makes the plans of few pods cheaper in sum, and none dearer.
func TestRecreate(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		mix    string
		// most is the cost as a share of that without.
		most   float64
		change func(*solver.Input)
	}{
		"constraints":    {"packing chooses domains before it knows who shares a node", "diverse", 0.99, func(*solver.Input) {}},
		"no constraints": {"packing rounds a linear program", "small", 0.995, func(*solver.Input) {}},
		"a pod too large for any node": {
			"no instance type is large enough for it", "diverse", 0.99,
			func(in *solver.Input) {
				in.Snapshot.Specs[0].Requests = model.Resources{model.CPU: 1 << 30, model.PodSlots: 1}
			},
		},
		"weights": {
			"all nodes are of the heaviest NodePool", "diverse", 0.99,
			func(in *solver.Input) { in.Snapshot.Pools[0].Weight = 10 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			sum, was := 0.0, 0.0
			for seed := range uint64(6) {
				before, after, ran := recreation(t, tc.mix, seed, tc.change)
				if !ran || after > before*(1+1e-9) {
					t.Errorf("seed %d: ran %t, %f in place of %f $/h", seed, ran, after, before)
				}
				sum, was = sum+after, was+before
			}
			if sum > tc.most*was {
				t.Errorf("%f in place of %f $/h although %s", sum, was, tc.reason)
			}
		})
	}
}

// TestRecreateLeavesAlone are the inputs whose plans are not made again.
func TestRecreateLeavesAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(*solver.Input)
	}{
		"without effort": {"questions about what nodes would cost are asked by the hundred", func(in *solver.Input) { in.Effort = 0 }},
		"candidate":      {"a search for consolidations compares plans by the hundred", func(in *solver.Input) { in.Candidate = true }},
		"nodes of two weights": {
			"inserting a pod does not look at the weight of the NodePool of a node that is open",
			func(in *solver.Input) {
				heavy := in.Snapshot.Pools[0]
				heavy.Name, heavy.Weight, heavy.Limits, heavy.Usage = "heavy", 10, model.Resources{model.NodeCount: 1}, model.Resources{}
				in.Snapshot.Pools = append(in.Snapshot.Pools, heavy)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, ran := recreation(t, "small", 1, tc.change); ran {
				t.Error("it ran: " + tc.reason)
			}
		})
	}
}

// TestRecreateBinds: a cheaper plan by ruin and recreate is not taken where the scheduler would not bind all of its
// pods, as in this scenario, in which five pods would be left out that have a place otherwise.
func TestRecreateBinds(t *testing.T) {
	s := random.NewScenario(1317)
	in := solver.Input{Snapshot: s.Question.Snapshot, Pods: s.Question.Pods, Effort: s.Question.Effort, Tolerance: s.Question.Tolerance}
	plan, stats := solver.Solve(in)
	if len(plan.Unplaced) != 3 {
		t.Errorf("%d pods are left out, want the three that have no place alone", len(plan.Unplaced))
	}
	dropped := func(x solver.Trial) bool {
		return x.Strategy == "ruin and recreate" && strings.Contains(x.Dropped, "would not bind")
	}
	if !slices.ContainsFunc(stats.Trials, dropped) {
		t.Error("no plan was dropped: the test asks too little")
	}
}
