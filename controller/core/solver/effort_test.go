package solver

import (
	"fmt"
	"maps"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/effort"
)

// manyNodes gives every pod of an input a spec of its own, topology constraints
// to many of them, and the cluster nodes.
func (g *generator) manyNodes(pods, nodes int) Input {
	in := g.input(pods)
	base := g.Snapshot.Specs
	g.Snapshot.Specs = nil
	for i := range g.Snapshot.Pods {
		s := base[g.Snapshot.Pods[i].Spec]
		s.Requests = s.Requests.Clone()
		s.Requests["cpu"] += int64(g.IntN(900))
		g.Snapshot.Pods[i].Spec = int32(len(g.Snapshot.Specs))
		g.Snapshot.Specs = append(g.Snapshot.Specs, s)
	}
	g.Topology()
	for i := len(g.Snapshot.Nodes); i < nodes; i++ {
		n := g.Node(i)
		n.Labels = maps.Clone(g.Snapshot.Catalogs[0].Types[g.IntN(len(g.Snapshot.Catalogs[0].Types))].Labels)
		n.Labels[constraint.LabelZone], n.Labels[constraint.LabelHostname], n.Labels[constraint.LabelCapacityType] = n.Zone, n.Name, string(model.Spot)
		g.Snapshot.Nodes = append(g.Snapshot.Nodes, n)
	}
	return in
}

// TestMovesAreBounded solves what leaves out many pods, which are then tried again in
// many ways: together these may not take more than what is allowed and what was under
// way by then. Without a bound the first looked at 590 million places, and
// the second made 470,000 moves, and 760,000 with full effort in every round.
func TestMovesAreBounded(t *testing.T) {
	cases := map[string]struct {
		reason string
		input  func() Input
		moves  int
	}{
		"many nodes": {
			reason: "every pod that finds a place lets all others try again, at every node and in company of every other",
			input:  func() Input { return newGenerator(2).manyNodes(300, 299) },
			moves:  2 * effort.Allowance,
		},
		"many pods": {
			reason: "preferences are given up one by one, and bundles undone in every round of that",
			input: func() Input {
				g := newGenerator(43)
				in := g.input(1 + g.IntN(999))
				if g.Chance(0.3) {
					g.policies(&in)
				}
				g.Topology()
				return in
			},
			moves: 6 * effort.Allowance,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := tc.input()
			in.Effort = DefaultEffort
			plan, stats := Solve(in)
			hold(t, 0, &in, &plan)
			moves := stats.Moves - stats.Looks/effort.LooksInMove
			text := fmt.Sprintf("%d pods, %d left out: %d moves, %d looks", len(in.Pods), len(plan.Unplaced), moves, stats.Looks)
			t.Log(text)
			if moves > tc.moves || stats.Looks > effort.AllLooks+2*effort.LooksOnce {
				t.Errorf("%s; want at most %d and %d: %s", text, tc.moves, effort.AllLooks+2*effort.LooksOnce, tc.reason)
			}
		})
	}
}
