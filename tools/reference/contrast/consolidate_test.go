package contrast

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/random"
	"spokeshave.dev/tools/reference/oracle"
	"spokeshave.dev/tools/reference/raise"
)

// cluster is a seeded cluster of ten nodes that run pods, of which the reference removes
// some.
func cluster() *model.Snapshot {
	oracle.Register()
	s := random.NewScenario(62).Question.Snapshot
	raise.Normalize(s)
	raise.LiftBudgets(s)
	s.Pods = slices.DeleteFunc(s.Pods, func(p model.Pod) bool { return p.Node < 0 })
	return s
}

// kinds are the kinds of differences, in order.
func kinds(list []Difference) []Kind {
	var out []Kind
	for _, d := range list {
		out = append(out, d.Kind)
	}
	return out
}

// occupied is the number of the first node that runs a pod, and free that of an empty node
// that is added to s.
func occupied(s *model.Snapshot) (occupied, free int32) {
	occupied = s.Pods[0].Node
	n := s.Nodes[occupied]
	n.Name, n.Claim = "free", "free"
	s.Nodes = append(s.Nodes, n)
	raise.Normalize(s)
	raise.LiftBudgets(s)
	return occupied, int32(len(s.Nodes) - 1)
}

// TestForbidden: a decision that removes what the reference's rules keep is found out.
func TestForbidden(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(s *model.Snapshot, d *decide.Decision)
		want   []Kind
	}{
		"empty": {reason: "an empty node may go", change: func(s *model.Snapshot, d *decide.Decision) {
			_, free := occupied(s)
			d.Disruptions = []decide.Disruption{{Node: free, Go: true}}
		}},
		"not empty": {reason: "the node runs a pod", want: []Kind{Forbidden}, change: func(s *model.Snapshot, d *decide.Decision) {
			node, _ := occupied(s)
			d.Disruptions = []decide.Disruption{{Node: node, Go: true}}
		}},
		"underutilized": {reason: "the node may go for a saving", change: func(s *model.Snapshot, d *decide.Decision) {
			node, _ := occupied(s)
			d.Commands = []decide.Command{{Nodes: []int32{node}}}
		}},
		"held": {reason: "do-not-disrupt keeps it", want: []Kind{Forbidden}, change: func(s *model.Snapshot, d *decide.Decision) {
			node, _ := occupied(s)
			s.Nodes[node].DoNotDisrupt = true
			d.Commands = []decide.Command{{Nodes: []int32{node}}}
		}},
		"over budget": {reason: "the budget lets none go", want: []Kind{Forbidden}, change: func(s *model.Snapshot, d *decide.Decision) {
			_, free := occupied(s)
			s.Pools[s.Nodes[free].Pool].Disruption.AllowedEmpty = 0
			d.Disruptions = []decide.Disruption{{Node: free, Go: true}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := cluster(), &decide.Decision{}
			tc.change(s, d)
			x := &ours{state: state{at: s}}
			if err := x.forbidden(t.Context(), raise.World(s), d); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, kinds(x.wrong)); diff != "" {
				t.Errorf("%s: %v (-want +got)\n%s", tc.reason, x.wrong, diff)
			}
		})
	}
}

// TestStranded: a pod that a removal leaves without a place, or for which a node would be
// launched, is found out.
func TestStranded(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		cpu    int64
		want   []Kind
	}{
		"fits":      {reason: "there is room on a node that runs", cpu: 1},
		"needs one": {reason: "no node has as much room, and a new one would", cpu: 6000, want: []Kind{Stranded}},
		"too large": {reason: "no instance type is as large", cpu: 1 << 30, want: []Kind{Stranded}},
	} {
		t.Run(name, func(t *testing.T) {
			s := cluster()
			s.Specs = append(s.Specs, model.PodSpec{Namespace: "a", Requests: model.Resources{model.CPU: tc.cpu, model.Memory: 1, model.PodSlots: 1}})
			s.Pods = append(s.Pods, model.Pod{UID: "left", Namespace: "a", Name: "left", Node: -1, Spec: int32(len(s.Specs) - 1)})
			x := &ours{state: state{at: s}}
			if err := x.place(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, kinds(x.wrong)); diff != "" {
				t.Errorf("%s: %v (-want +got)\n%s", tc.reason, x.wrong, diff)
			}
		})
	}
}

// TestLeft: what the reference would still remove is a defect, unless our reason to keep it
// is that the scheduler might place the pods otherwise.
func TestLeft(t *testing.T) {
	for reason, want := range map[string]Kind{"": Kept, "no cheaper place was found for its pods": Kept, disrupt.ReasonUncertain: Uncertain} {
		x := &ours{state: state{at: cluster(), kept: map[string]string{}}}
		for i := range x.at.Nodes {
			x.kept[x.at.Nodes[i].Name] = reason
		}
		found, err := x.left(t.Context(), &Case{Snapshot: x.at})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Kind{want}, kinds(found)); diff != "" {
			t.Errorf("%q: %v (-want +got)\n%s", reason, found, diff)
		}
	}
}

func TestCompareEnds(t *testing.T) {
	one := End{USD: 1, Removed: []string{"a"}}
	for name, tc := range map[string]struct {
		theirs End
		want   []Kind
	}{
		"same":       {theirs: one},
		"dearer":     {theirs: End{USD: 2}, want: []Kind{SavesMore}},
		"cheaper":    {theirs: End{USD: 0.5}, want: []Kind{OtherPath}},
		"other node": {theirs: End{USD: 1, Removed: []string{"b"}}, want: []Kind{OtherNodes}},
	} {
		if diff := cmp.Diff(tc.want, kinds(compareEnds(&one, &tc.theirs))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
