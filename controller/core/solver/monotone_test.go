package solver

import (
	"slices"
	"testing"

	"spokeshave.dev/controller/core/model"
)

// limited says whether a NodePool's limit is why a pod is left out.
func limited(p *model.Plan) bool {
	return slices.ContainsFunc(p.Unplaced, func(u model.Unplaced) bool {
		return slices.ContainsFunc(u.Reasons, func(r model.Reason) bool { return r.Code == model.LimitReached })
	})
}

// TestMoreHeadroomPlacesMore takes ceilings away: the plan still holds, and
// leaves no more pods out. Where NodePool limits are scarce besides, packing is
// a guess: the node that is cheapest for the most urgent pods, say, may be in a zone
// that others must not be in. A few pods more may be left out there once in a while.
func TestMoreHeadroomPlacesMore(t *testing.T) {
	const share = 200
	exceptions := 0
	for seed := range seeds(share) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(100))
		g.policies(&in)
		with, _ := Solve(in)
		hold(t, seed, &in, &with)
		in.Headroom = nil
		without, _ := Solve(in)
		hold(t, seed, &in, &without)
		if more := len(without.Unplaced) - len(with.Unplaced); more > 0 {
			exceptions++
			if t.Logf("seed %d: %d pods unplaced without ceilings, %d with", seed, len(without.Unplaced), len(with.Unplaced)); more > 5 || !limited(&without) {
				t.Errorf("seed %d: %d pods more are left out", seed, more)
			}
		}
	}
	if exceptions > int(seeds(share)/100) {
		t.Errorf("%d of %d seeds leave out a pod more", exceptions, seeds(share))
	}
}

// TestEffortPays compares effort with none: improving saves money in all, and costs
// none of any plan but for the last per cent, below which it is not tried.
func TestEffortPays(t *testing.T) {
	greedy, improved := 0.0, 0.0
	for seed := range seeds(60) {
		g := newGenerator(seed)
		in := g.input(20 + g.IntN(200))
		g.plain(&in)
		in.Effort = 0
		_, a := Solve(in)
		in.Effort = DefaultEffort
		_, b := Solve(in)
		greedy += a.Effective
		improved += b.Effective
		if b.Effective > a.Effective*1.01 {
			t.Errorf("seed %d: %.4f $/h with effort, %.4f without", seed, b.Effective, a.Effective)
		}
	}
	if t.Logf("%.2f $/h with effort, %.2f without", improved, greedy); improved > greedy*0.98 {
		t.Errorf("%.2f $/h with effort, %.2f without: want 2 %% less, it was 3.5 %%", improved, greedy)
	}
}
