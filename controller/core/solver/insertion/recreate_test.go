package insertion

import (
	"slices"
	"testing"

	"spokeshave.dev/controller/core/draw"
	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
)

// TestBetterThan: pods without a place count before the cost.
func TestBetterThan(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		a, b     state
		multiple float64
		want     bool
	}{
		"fewer left out": {"a place for a pod is worth any cost", state{missing: 1, cost: 9}, state{missing: 2, cost: 1}, 1, true},
		"more left out":  {"and no saving is worth a place", state{missing: 2, cost: 1}, state{missing: 1, cost: 9}, 1, false},
		"cheaper":        {"as many are left out", state{cost: 1}, state{cost: 2}, 1, true},
		"equal":          {"nothing is won", state{cost: 2}, state{cost: 2}, 1, false},
		"hardly dearer":  {"the multiple allows it", state{cost: 2.01}, state{cost: 2}, 1.01, true},
		"dearer":         {"by more than the multiple", state{cost: 2.03}, state{cost: 2}, 1.01, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.a.betterThan(&tc.b, tc.multiple); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

// TestRuin: a round takes away one to mostRuined nodes, each of them now and then, and none with a
// pod that needs others on its node.
func TestRuin(t *testing.T) {
	const plain, needing = 0, 1
	classes := []problem.Class{{}, {Terms: &constraint.Terms{HostRules: []constraint.Rule{{Kind: constraint.Affinity}}}}}
	for name, tc := range map[string]struct {
		reason string
		nodes  [][]int32 // the classes on each node
		want   []int     // the nodes that may go
	}{
		"no node":         {"there is nothing to take away", nil, nil},
		"only nodes kept": {"pods that need others would have no place for a while", [][]int32{{needing}, {plain, needing}}, nil},
		"one of two":      {"the other one stays", [][]int32{{plain, needing}, {plain}}, []int{1}},
		"many":            {"any may go", [][]int32{{plain}, {plain}, {plain}, {needing}, {plain}, {plain}, {plain}}, []int{0, 1, 2, 4, 5, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recreation{Insertion: &Insertion{p: &problem.Problem{Classes: classes}}, random: draw.Numbers(1)}
			for _, on := range tc.nodes {
				n := insertedNode{node: &commit.Node{}}
				for _, c := range on {
					n.node.Placed = append(n.node.Placed, problem.ClassCount{Class: c, N: 1})
				}
				r.current.nodes = append(r.current.nodes, n)
			}
			var seen []int
			for range 200 {
				n := 0
				for i, gone := range r.ruin() {
					if gone {
						seen, n = append(seen, i), n+1
					}
				}
				if n > mostRuined || n == 0 && tc.want != nil {
					t.Fatalf("%d nodes are gone at once", n)
				}
			}
			slices.Sort(seen)
			if seen = slices.Compact(seen); !slices.Equal(seen, tc.want) {
				t.Errorf("%s: %v may go, want %v", tc.reason, seen, tc.want)
			}
		})
	}
}
