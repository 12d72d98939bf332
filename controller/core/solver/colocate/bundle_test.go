package colocate_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/colocate"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
	"spokeshave.dev/test/kit/instancetype"
)

// group is n pods with the label app=name, which want one of app=wants on their node.
type group struct {
	name, wants string
	n           int
}

// pods is a problem of groups of pods, of which seven fit on a node. Pods are numbered
// in the order of the groups.
func pods(groups ...group) *problem.Problem {
	s := &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(instancetype.New("large", 7000, 64, 20, instancetype.OnDemand("a", model.PriceOf(1))))},
		Pools:    []model.Pool{{Name: "general", NodeClass: "default"}},
	}
	in := problem.Input{Supply: supply.Question{Snapshot: s}}
	for g, x := range groups {
		spec := model.PodSpec{Namespace: "ns", Labels: map[string]string{"app": x.name}, Requests: model.Resources{"cpu": 1000, "pods": 1}}
		if x.wants != "" {
			spec.PodAffinity = []model.PodTerm{{Key: constraint.LabelHostname, Selector: model.PodSelector{
				Namespaces: []string{"ns"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{x.wants}}},
			}}}
		}
		s.Specs = append(s.Specs, spec)
		for i := range x.n {
			in.Pods = append(in.Pods, int32(len(s.Pods)))
			s.Pods = append(s.Pods, model.Pod{Namespace: "ns", Name: fmt.Sprint(x.name, "-", i), Spec: int32(g), Node: -1})
		}
	}
	in.Required = s.Specs
	return problem.New(&in)
}

// unmetOf records the pods whose number is at least from.
func unmetOf(p *problem.Problem, from int32) *colocate.Unmet {
	w, f := colocate.NewUnmet(), colocate.Failure{}
	for _, i := range p.Pods {
		if i >= from {
			f.Unmet = append(f.Unmet, i)
		}
	}
	w.Record(&f)
	return w
}

func TestBundle(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		groups []group
		// unmet is the first pod whose affinity is not met.
		unmet int32
		// want are the classes: groups of so many pods each; 0 for single pods.
		want []string
	}{
		"Evenly":    {"four followers are divided between two leaders", []group{{"db", "", 2}, {"web", "db", 4}}, 2, []string{"2 groups of 3"}},
		"Remainder": {"one leader has a follower less", []group{{"db", "", 2}, {"web", "db", 3}}, 2, []string{"1 groups of 2", "1 groups of 3"}},
		"Own":       {"one begins, and the others join it", []group{{"web", "web", 3}}, 0, []string{"1 groups of 3"}},
		"TooMany":   {"a node has room for seven: three stay alone", []group{{"db", "", 1}, {"web", "db", 9}}, 1, []string{"1 groups of 7", "3 single"}},
		"Nobody":    {"nothing satisfies the affinity", []group{{"web", "db", 2}}, 0, []string{"2 single"}},
		"NotNeeded": {"without unmet pods there is no bundle", []group{{"db", "", 1}, {"web", "db", 2}}, 99, []string{"1 single", "2 single"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := pods(tc.groups...)
			all := vec.NewBits(len(p.Supply.Offers))
			all.SetRange(0, int32(len(p.Supply.Offers)))
			var got []string
			placed := 0
			classes := colocate.Bundle(p, p.Hosts(), all, unmetOf(p, tc.unmet))
			for c := range classes {
				cl := &classes[c]
				placed += len(cl.Pods)
				if cl.BundleSize > 0 {
					got = append(got, fmt.Sprint(cl.N(), " groups of ", cl.BundleSize))
				} else {
					got = append(got, fmt.Sprint(cl.N(), " single"))
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
			if placed != len(p.Pods) {
				t.Errorf("the classes have %d pods, want %d", placed, len(p.Pods))
			}
		})
	}
}

// TestRecord checks what a plan adds to the pods to bundle: pods that are new, and
// the reasons of bundles without a place, once explained.
func TestRecord(t *testing.T) {
	w := colocate.NewUnmet()
	if !w.Record(&colocate.Failure{Unmet: []int32{0}}) {
		t.Error("a first pod is new")
	}
	if w.Record(&colocate.Failure{Unmet: []int32{0}}) {
		t.Error("the same pod is not new")
	}
	reasons := make([]model.Reason, 1)
	failed := colocate.Failure{
		Bundles: []int32{0}, Unplaced: []model.Unplaced{{Pod: 0, Reasons: reasons}},
		Explain: func() { reasons[0] = model.Reason{Code: model.NoCapacity, Message: "full"} },
	}
	if !w.Record(&failed) {
		t.Error("a bundle without a place is new")
	}
	if w.Record(&failed) {
		t.Error("the same bundle is not new")
	}
	p := pods(group{"web", "db", 1})
	classes := colocate.Bundle(p, nil, nil, w)
	w.Tell()
	want := []model.Reason{{Code: model.NoCapacity, Message: "with the pods that it wants on its own node: full"}}
	if diff := cmp.Diff(want, classes[0].Reasons); diff != "" {
		t.Errorf("the pod of the bundle has other reasons (-want +got)\n%s", diff)
	}
}
