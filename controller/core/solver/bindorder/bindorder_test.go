package bindorder_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/bindorder"
)

const zone, host = "zone", "hostname"

// planBuilder is a plan in the making: nodes named 0, 1, … and new ones after them.
type planBuilder struct {
	bindorder.Plan
	// zones are by place; "?" is one of two, "" none.
	zones []string
}

func newPlan(existing, planned []string) *planBuilder {
	w := &planBuilder{zones: slices.Concat(existing, planned)}
	w.Snapshot, w.Plan.Plan = &model.Snapshot{Nodes: make([]model.Node, len(existing))}, &model.Plan{Nodes: make([]model.PlannedNode, len(planned))}
	w.Label = func(place int, key string) bindorder.Domain {
		switch z := w.zones[place]; {
		case key == host:
			return bindorder.Value(fmt.Sprint(place))
		case z == "":
			return bindorder.Absent
		case z == "?":
			return bindorder.Ambiguous
		default:
			return bindorder.Value(z)
		}
	}
	return w
}

// spec adds a spec of pods with a name, that want others near: key, name, ….
func (w *planBuilder) spec(name string, near ...string) int32 {
	s := model.PodSpec{Namespace: "default", Labels: map[string]string{"app": name}}
	for i := 0; i < len(near); i += 2 {
		s.PodAffinity = append(s.PodAffinity, model.PodTerm{Key: near[i], Selector: model.PodSelector{
			Namespaces: []string{"default"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{near[i+1]}}},
		}})
	}
	w.Snapshot.Specs = append(w.Snapshot.Specs, s)
	return int32(len(w.Snapshot.Specs) - 1)
}

// runs adds a pod that runs on a node.
func (w *planBuilder) runs(spec int32, node int) {
	w.Snapshot.Pods = append(w.Snapshot.Pods, model.Pod{Spec: spec, Node: int32(node)})
}

// places adds a pod that the plan puts at a place.
func (w *planBuilder) places(spec int32, place int) {
	i := int32(len(w.Snapshot.Pods))
	w.Snapshot.Pods = append(w.Snapshot.Pods, model.Pod{Spec: spec, Node: -1})
	w.Pods = append(w.Pods, i)
	if n := place - len(w.Snapshot.Nodes); n >= 0 {
		w.Nodes[n].Pods = append(w.Nodes[n].Pods, i)
	} else {
		w.Existing = append(w.Existing, model.Assignment{Node: int32(place), Pods: []int32{i}})
	}
}

func TestUnbindable(t *testing.T) {
	cases := map[string]struct {
		reason string
		plan   func(w *planBuilder)
		want   []int32
	}{
		"free": {reason: "no affinity, no order", plan: func(w *planBuilder) { w.places(w.spec("a"), 0) }},
		"beside a running pod": {reason: "a match runs in the zone", plan: func(w *planBuilder) {
			w.runs(w.spec("a"), 0)
			w.places(w.spec("b", zone, "a"), 1)
		}},
		"after another": {reason: "b is bound after a", plan: func(w *planBuilder) {
			b := w.spec("b", zone, "a")
			w.places(b, 0)
			w.places(w.spec("a"), 1)
		}},
		"chain": {reason: "c after b after a", plan: func(w *planBuilder) {
			w.places(w.spec("c", host, "b"), 0)
			w.places(w.spec("b", host, "a"), 0)
			w.places(w.spec("a"), 0)
		}},
		"first of its kind": {reason: "nobody matches anywhere, and a matches itself", plan: func(w *planBuilder) {
			a := w.spec("a", zone, "a")
			w.places(a, 0)
			w.places(a, 1)
		}},
		"first elsewhere": {reason: "a match runs in the other zone: the first would go there", plan: func(w *planBuilder) {
			w.runs(w.spec("a"), 2)
			w.places(w.spec("a", zone, "a"), 0)
		}, want: []int32{1}},
		"each other": {reason: "both wait for the other", plan: func(w *planBuilder) {
			w.places(w.spec("a", zone, "b"), 0)
			w.places(w.spec("b", zone, "a"), 0)
		}, want: []int32{0, 1}},
		"no such label": {reason: "the node has no zone", plan: func(w *planBuilder) {
			w.runs(w.spec("a"), 3)
			w.places(w.spec("b", zone, "a"), 3)
		}, want: []int32{1}},
		"zone not known": {reason: "the new node may come up in another zone than the match", plan: func(w *planBuilder) {
			w.runs(w.spec("a"), 0)
			w.places(w.spec("b", zone, "a"), 4)
		}, want: []int32{1}},
		"same new node": {reason: "wherever the node comes up, both are there", plan: func(w *planBuilder) {
			w.places(w.spec("a"), 4)
			w.places(w.spec("b", zone, "a"), 4)
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newPlan([]string{"x", "x", "y", ""}, []string{"?"})
			c.plan(w)
			if diff := cmp.Diff(c.want, bindorder.Unbindable(w.Plan)); diff != "" {
				t.Errorf("%s: unbindable (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// TestPodByPod compares random plans with a simulation that binds pods one by one,
// looking at all pods and nodes each time.
func TestPodByPod(t *testing.T) {
	bound, unbound := 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newPlan([]string{"x", "y", ""}, []string{"x", "?"})
		names := []string{"a", "b", "c"}
		for range 2 + r.IntN(4) {
			var near []string
			for range r.IntN(3) {
				near = append(near, []string{zone, host}[r.IntN(2)], names[r.IntN(3)])
			}
			w.spec(names[r.IntN(3)], near...)
		}
		for range r.IntN(3) {
			w.runs(int32(r.IntN(len(w.Snapshot.Specs))), r.IntN(3))
		}
		for range 1 + r.IntN(6) {
			w.places(int32(r.IntN(len(w.Snapshot.Specs))), r.IntN(5))
		}
		got, want := bindorder.Unbindable(w.Plan), w.podByPod()
		// Who starts a group first may decide about others, so that the pods left may
		// differ, but not whether there are any.
		if (len(got) == 0) != (len(want) == 0) {
			t.Fatalf("seed %d: unbindable %v, pod by pod %v", seed, got, want)
		}
		unbound += len(got)
		bound += len(w.Pods) - len(got)
	}
	if bound == 0 || unbound == 0 {
		t.Errorf("%d pods bound, %d not: the plans try nothing", bound, unbound)
	}
}

// podByPod are the pods left when one pod after the other is bound that may be.
func (w *planBuilder) podByPod() []int32 {
	at := map[int32]int{}
	for _, a := range w.Existing {
		for _, i := range a.Pods {
			at[i] = int(a.Node)
		}
	}
	for n := range w.Nodes {
		for _, i := range w.Nodes[n].Pods {
			at[i] = len(w.Snapshot.Nodes) + n
		}
	}
	running := map[int32]int{}
	for i, p := range w.Snapshot.Pods {
		if p.Node >= 0 {
			running[int32(i)] = int(p.Node)
		}
	}
	spec := func(i int32) *model.PodSpec { return &w.Snapshot.Specs[w.Snapshot.Pods[i].Spec] }
	matches := func(who, other int32) bool {
		return !slices.ContainsFunc(spec(who).PodAffinity, func(t model.PodTerm) bool {
			return !t.Selector.Matches(spec(other).Namespace, spec(other).Labels)
		})
	}
	// together says whether two places are in one domain for sure.
	together := func(key string, a, b int) bool {
		x, y := w.Label(a, key), w.Label(b, key)
		return x != bindorder.Absent && (a == b || x == y && x != bindorder.Ambiguous)
	}
	met := func(i int32) bool {
		return !slices.ContainsFunc(spec(i).PodAffinity, func(t model.PodTerm) bool {
			for other, place := range running {
				if matches(i, other) && together(t.Key, at[i], place) {
					return false
				}
			}
			return true
		})
	}
	first := func(i int32) bool {
		if !matches(i, i) {
			return false
		}
		for _, t := range spec(i).PodAffinity {
			if w.Label(at[i], t.Key) == bindorder.Absent {
				return false
			}
			for other, place := range running {
				if matches(i, other) && w.Label(place, t.Key) != bindorder.Absent {
					return false
				}
			}
		}
		return true
	}
	left := slices.Clone(w.Pods)
	for {
		i := slices.IndexFunc(left, met)
		if i < 0 {
			i = slices.IndexFunc(left, first)
		}
		if i < 0 {
			return left
		}
		running[left[i]] = at[left[i]]
		left = slices.Delete(left, i, i+1)
	}
}
