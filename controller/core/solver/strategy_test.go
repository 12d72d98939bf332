package solver

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// TestTrials: of every solve exactly one trial won, it reached what the plan reaches, and
// the work of all is the work of the solve. Over many inputs every kind of strategy runs.
func TestTrials(t *testing.T) {
	ran := map[string]int{}
	for seed := range seeds(60) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(60))
		in.Effort = DefaultEffort
		g.Topology()
		plan, stats := Solve(in)
		won, moves := 0, 0
		for i := range stats.Trials {
			x := &stats.Trials[i]
			ran[x.Strategy]++
			moves += x.Moves
			if x.Why == "" || x.Question == "" {
				t.Errorf("seed %d: %s does not say why it ran, or on what: %+v", seed, x.Strategy, *x)
			}
			if !x.Won {
				continue
			}
			won++
			if x.Dropped != "" || x.Unplaced > len(plan.Unplaced) || x.Cost != stats.Effective+stats.Fixed.USD() {
				t.Errorf("seed %d: %+v won, but the plan leaves out %d pods and costs %f", seed, *x, len(plan.Unplaced), stats.Effective+stats.Fixed.USD())
			}
		}
		if won != 1 || moves != stats.Moves {
			t.Errorf("seed %d: %d trials won, and took %d moves of %d", seed, won, moves, stats.Moves)
		}
	}
	for _, name := range []string{
		"pack, spread first", "pack, spread first, bundled", "pack, existing first", "pack, cheapest first",
		"insert, first fit", "insert, first fit, repacked", "insert, fixed zone", "insert, first fit, failed first",
	} {
		if ran[name] == 0 {
			t.Errorf("%q never ran: %v", name, ran)
		}
	}
}

// TestTrialsRepeat: the same snapshot leads over the same trials.
func TestTrialsRepeat(t *testing.T) {
	solve := func() []Trial {
		g := newGenerator(5)
		in := g.input(80)
		in.Effort = DefaultEffort
		g.policies(&in)
		g.Topology()
		_, stats := Solve(in)
		return stats.Trials
	}
	first := solve()
	if diff := cmp.Diff(first, solve()); diff != "" {
		t.Error(diff)
	}
	if len(first) < 2 {
		t.Errorf("%d trials say little", len(first))
	}
}

// TestStrategiesDiffer: no name and no combination of options is on the list twice.
func TestStrategiesDiffer(t *testing.T) {
	names, all := map[string]bool{}, map[string]string{}
	var list []strategy
	for _, x := range stages() {
		list = append(list, x.strategies...)
		if x.strategies[0].options.kind < insert && len(x.strategies) > 1 {
			t.Errorf("%q packs all pods at once, and is not alone in its stage", x.strategies[0].name)
		}
	}
	for _, st := range list {
		if names[st.name] {
			t.Errorf("%q is on the list twice", st.name)
		}
		names[st.name] = true
		key := fmt.Sprintf("%+v", reflect.ValueOf(st.options))
		if other := all[key]; other != "" {
			t.Errorf("%q is the same as %q", st.name, other)
		}
		all[key] = st.name
	}
}

// TestStagesAnywhere: a plan and the way to it are the same on one processor and on four, for
// pods whose constraints contradict each other, for which many strategies run.
func TestStagesAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many plans, which is slow under the race detector; other tests run the same concurrent code")
	}
	solve := func(seed uint64, processors int) (model.Plan, Stats) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		g := newGenerator(seed)
		in := g.input(60)
		in.Effort = DefaultEffort
		g.policies(&in)
		g.Topology()
		return Solve(in)
	}
	together := 0
	for seed := range seeds(12) {
		plan, stats := solve(seed, 1)
		other, otherStats := solve(seed, 4)
		if diff := cmp.Diff(plan, other); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
		if diff := cmp.Diff(stats, otherStats); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
		together += max(0, len(stats.Trials)-10)
	}
	if together < 100 {
		t.Errorf("%d trials are too few to say anything", together)
	}
}
