package commit

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/problem"
)

// TestMend: places that dealing left empty are filled by pods that are left,
// directly or in exchange for a pod of the same item on another node.
func TestMend(t *testing.T) {
	cases := map[string]struct {
		reason string
		// nodes are the pods drawn, "s" for one that wants to be alone of its
		// kind and "p" for a plain one; the first node has a place left.
		nodes []string
		// left is who is left over.
		left string
		want []string
		rest int32
	}{
		"Directly":    {"whoever may join is put there", []string{"p"}, "s", []string{"ps"}, 0},
		"InExchange":  {"the plain pod of the other node makes room for the shy one", []string{"s", "p"}, "s", []string{"sp", "s"}, 0},
		"NobodyMoves": {"there is a shy pod on every node: one is left", []string{"s", "sp"}, "s", []string{"s", "sp"}, 1},
		"PlainStays":  {"a pod that minds nobody needs no exchange", []string{"s", "p"}, "p", []string{"sp", "p"}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			apart := model.PodSpec{Namespace: "ns", Labels: map[string]string{"app": "s"}, Requests: model.Resources{"cpu": 100, "memory": 1 << 30, "pods": 1}}
			plain := apart
			plain.Labels = nil
			apart.PodAntiAffinity = []model.PodTerm{{Key: constraint.LabelHostname, Selector: model.PodSelector{
				Namespaces: []string{"ns"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{"s"}}},
			}}}
			p, o := ask(&model.Snapshot{}, nil, apart, plain)
			byName := map[string]int32{}
			for c := range p.Classes {
				if p.Classes[c].Terms == nil {
					byName["p"] = int32(c)
				} else {
					byName["s"] = int32(c)
				}
			}
			k := &Round{Problem: p, Items: problem.Items{List: []problem.Item{{Request: p.Classes[0].Requests, Members: []problem.ClassCount{{Class: byName["s"]}, {Class: byName["p"]}}}}}}
			a := newAttempt(p, o, make([]int32, len(p.Classes)), mode{})
			for i := range k.Items.List[0].Members {
				if part := &k.Items.List[0].Members[i]; part.Class == byName[tc.left] {
					part.N, a.Left[part.Class] = 1, 1
				}
			}
			var all []draftNode
			for i, text := range tc.nodes {
				n := int32(len(text))
				x := draftNode{Node: &Node{}, pattern: &packing.Pattern{Items: []int32{0}, Counts: []int32{n}}}
				if i == 0 {
					x.pattern.Counts[0], x.short = n+1, 1
				}
				for _, r := range text {
					x.Join(&p.Classes[byName[string(r)]], problem.ClassCount{Class: byName[string(r)], N: 1})
					x.origin = append(x.origin, 0)
				}
				all = append(all, x)
			}
			newNodeBuilder(a, k).repair(all)
			var got []string
			for i := range all {
				text := ""
				for _, k := range all[i].Placed {
					for name, c := range byName {
						if c == k.Class {
							text += name
						}
					}
				}
				got = append(got, text)
				if want := p.CountsOf(all[i].Placed); fmt.Sprint(counted(&want)) != fmt.Sprint(counted(&all[i].Counts)) {
					t.Errorf("%s: node %d counts %v, its pods are %v", tc.reason, i, counted(&all[i].Counts), counted(&want))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			if rest := a.Left[byName[tc.left]]; rest != tc.rest || all[0].short != tc.rest {
				t.Errorf("%s: %d are left and %d places empty, want %d", tc.reason, rest, all[0].short, tc.rest)
			}
		})
	}
}

// counted lists what node counts hold.
func counted(y *constraint.NodeCounts) []string {
	var out []string
	for _, t := range y.Counts {
		if t.Count > 0 {
			out = append(out, fmt.Sprintf("%d of %d, at most %d", t.Count, t.Group, t.Limit))
		}
	}
	slices.Sort(out)
	return out
}
